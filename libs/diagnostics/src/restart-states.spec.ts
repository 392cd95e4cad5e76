import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { restartStates } from './restart-states.js';
import { mixedOutcomes, spendGreedily, traceAllocation } from './trace-allocation.js';

const branch = (id: string, turns: number, parent?: [of: string, turn: number]) => ({
  id,
  group: 'g',
  trainingStep: 0,
  turns: Array.from({ length: turns }, () => ({})),
  ...(parent && { parent: { trajectory: parent[0], turn: parent[1] } }),
});
/** t0 = A B C wins, t1 = A D loses, t2 = A B E loses, t3 = F G wins. */
const toy = trajectoryBatch([branch('t0', 3), branch('t1', 2, ['t0', 0]), branch('t2', 3, ['t0', 1]), branch('t3', 2)]);
const won = Float64Array.of(1, 0, 0, 1);

describe('traceAllocation', () => {
  it('predicts from what went through, smoothed', () => {
    const { anchors } = traceAllocation(toy, won, { budget: 6, maxPerAnchor: 2 });
    // the prompt, A, B, F
    expect(anchors.map(({ at }) => at)).toEqual([null, { trajectory: 't0', turn: 0 }, { trajectory: 't0', turn: 1 }, { trajectory: 't3', turn: 0 }]); // prettier-ignore
    expect(anchors.map(({ success }) => success)).toEqual([0.5, 0.4, 0.5, expect.closeTo(2 / 3, 12)]);
    expect(anchors.map(({ rollouts }) => rollouts)).toEqual([2, 2, 2, 0]);
    expect(anchors.map(({ started }) => started)).toEqual([2, 1, 1, 0]);
  });

  it('spends where a rollout more is most likely to show both outcomes, the first of equals first', () => {
    expect(spendGreedily([0.5, 0.5], 6, Infinity)).toEqual([3, 3]);
    expect(spendGreedily([0.5, 0.5], 3, Infinity)).toEqual([3, 0]);
    expect(spendGreedily([0, 1], 6, Infinity)).toEqual([0, 0]);
    expect(spendGreedily([0.5], 1, Infinity)).toEqual([0]);
    expect(spendGreedily([], 4, Infinity)).toEqual([]);
    expect(mixedOutcomes(0.5, 2)).toBe(0.5);
    expect([mixedOutcomes(0.5, 1), mixedOutcomes(0, 8), mixedOutcomes(1, 8)]).toEqual([0, 0, 0]);
  });

  it('says what the same budget could have shown, and how good the prediction was', () => {
    const { anchors, regret, brier } = traceAllocation(toy, won);
    const total = (of: 'mixed' | 'mixedSpent') => anchors.reduce((sum, anchor) => sum + anchor[of], 0);
    expect(anchors.reduce((sum, { rollouts }) => sum + rollouts, 0)).toBe(4);
    expect(regret).toBeCloseTo(total('mixed') - total('mixedSpent'), 12);
    expect(regret).toBeGreaterThan(0);
    // the prompt without one of its two wins: 0.4 for 1, without a loss 0.6 for 0; A: 0.25 for 1, 0.5 for 0 twice; B: 1/3 for 1, 2/3 for 0
    expect(brier).toBeCloseTo((4 * 0.36 + 0.75 ** 2 + 2 * 0.25 + 2 * (4 / 9)) / 9, 12);
  });

  it('answers for nothing, and for trajectories without a result', () => {
    expect(traceAllocation(trajectoryBatch([]), new Float64Array(0))).toEqual({ anchors: [], regret: 0, brier: null });
    const { anchors, brier } = traceAllocation(trajectoryBatch([branch('a', 1)]), Float64Array.of(NaN));
    expect(anchors).toMatchObject([{ mean: null, continuations: 0, success: 0.5 }]);
    expect(brier).toBeNull();
  });
});

describe('restartStates', () => {
  it('scores every place that was gone on from', () => {
    const { states } = restartStates(toy, won, { groupSize: 8 });
    const byPlace = new Map(states.map((state) => [state.at ? `${state.at.trajectory}:${state.at.turn}` : '', state]));
    const row = (place: string) => {
      const { continuations, mean, learnability, mixed, novelty } = byPlace.get(place)!;
      return [continuations, mean!, learnability, mixed, novelty].map((value) => Number(value.toFixed(4)));
    };
    expect(row('')).toEqual([4, 0.5, 0.25, 0.9922, 0.4472]);
    expect(row('t0:0')).toEqual([3, 0.3333, 0.2222, 0.9825, 0.5]);
    expect(row('t0:1')).toEqual([2, 0.5, 0.25, 0.9922, 0.5774]);
    expect(row('t3:0')).toEqual([1, 1, 0, 0.9608, Number(Math.SQRT1_2.toFixed(4))]);
    expect(byPlace.get('t0:0')).toMatchObject({ tried: 2, started: 1, depth: 1, leadsToSuccess: true });
    expect(byPlace.get('t0:1')!.sampleVariance).toBeCloseTo(0.5, 12);
    expect(byPlace.get('t3:0')!.sampleVariance).toBeNull();
  });

  it('ranks by the chance of both outcomes, then by novelty', () => {
    const { states } = restartStates(toy, won, { groupSize: 8 });
    expect(states.map(({ at }) => at && `${at.trajectory}:${at.turn}`)).toEqual(['t0:1', null, 't0:0', 't3:0']);
  });

  it("has Go-Explore's weights", () => {
    const { states } = restartStates(toy, won, { seenWeight: 1, chosenWeight: 2 });
    expect(states.find(({ at }) => at === null)!.exploreWeight).toBeCloseTo(1 / Math.sqrt(5) + 2 / Math.sqrt(3), 12);
    expect(restartStates(toy, won).states.map(({ exploreWeight }) => exploreWeight)).toEqual([0, 0, 0, 0]);
  });

  it('advises the shortest prefix of a success that makes a hard prompt learnable', () => {
    const hard = Float64Array.of(1, 0, 0, 0);
    const { prefixes } = restartStates(toy, hard);
    expect(prefixes).toEqual([{ group: 'g', promptMean: 0.25, trajectory: 't0', prefixTurns: 1, mean: 0.4, lift: expect.closeTo(0.15, 12) }]); // prettier-ignore
    expect(restartStates(toy, hard, { low: 0.45 }).prefixes).toMatchObject([{ prefixTurns: 2, mean: 0.5 }]);
    expect(restartStates(toy, hard, { low: 0.9, high: 1 }).prefixes).toMatchObject([{ prefixTurns: null, lift: null }]);
    expect(restartStates(toy, won).prefixes).toEqual([]);
  });

  it('takes a place without outcomes for one worth a first visit', () => {
    const { states } = restartStates(trajectoryBatch([branch('a', 2)]), Float64Array.of(NaN));
    expect(states).toMatchObject([{ learnability: 0.25, mean: null, novelty: 1 }, { learnability: 0.25 }]);
    expect(restartStates(trajectoryBatch([]), new Float64Array(0))).toEqual({ states: [], prefixes: [] });
  });
});
