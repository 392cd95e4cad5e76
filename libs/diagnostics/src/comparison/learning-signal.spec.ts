import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { learningSignal, mergeOutcomes, NO_OUTCOMES, outcomeSums } from './learning-signal.js';

type Row = readonly [id: string, group: string, turns: number, outcomeReward?: number, success?: boolean];

function rollouts(...rows: Row[]) {
  return trajectoryBatch(
    rows.map(([id, group, turns, outcomeReward, success]) => ({
      id,
      group,
      trainingStep: 0,
      ...(outcomeReward !== undefined && { outcomeReward }),
      ...(success !== undefined && { success }),
      turns: Array.from({ length: turns }, () => ({})),
    })),
  );
}

const signalOf = (...rows: Row[]) => learningSignal(outcomeSums(rollouts(...rows)));

describe('learning signal', () => {
  it('agrees with the worked example of the method', () => {
    const found = signalOf(
      ['A', 'g0', 3, 1, true],
      ['B', 'g0', 4, 0, false],
      ['C', 'g0', 2, 1, true],
      ['E', 'g0', 2, 0, false],
      ['F', 'g1', 1, 0, false],
      ['G', 'g1', 2, 0, false],
    );
    expect(found).toMatchObject({ groups: 2, comparableGroups: 2, groupsWithSignal: 1, solveNone: 1, solvePartial: 1 });
    expect(found.trajectoryFraction).toBeCloseTo(1 / 3, 12);
    expect(found.silentTurnShare).toBeCloseTo(3 / 14, 12);
    // p̄ = 1/3: groups of 4 and 2 give 17/81 and 5/9
    expect(found.expectedZeroFraction).toBeCloseTo((17 / 81 + 5 / 9) / 2, 12);
    expect(found.difficultySpreadExcess).toBeCloseTo(0.5 - (17 / 81 + 5 / 9) / 2, 12);
    expect(found.costMultiplier).toBe(2);
    expect(found.successRate).toBeCloseTo(1 / 3, 12);
  });

  it('counts a group of one apart, whatever its outcome', () => {
    expect(signalOf(['A', 'g', 1, 1, true])).toMatchObject({
      singletonGroups: 1,
      comparableGroups: 0,
      groupFraction: null,
    });
  });

  it('takes rewards within 1e-8 for equal', () => {
    expect(signalOf(['A', 'g', 1, 0.3], ['B', 'g', 1, 0.1 + 0.2])).toMatchObject({ groupsWithSignal: 0 });
    expect(signalOf(['A', 'g', 1, 0.3], ['B', 'g', 1, 0.3000001])).toMatchObject({ groupsWithSignal: 1 });
  });

  it('keeps groups of one name in two training steps apart', () => {
    const [first, second] = [rollouts(['A', 'g', 1, 0]), rollouts(['B', 'g', 1, 1])];
    const merged = learningSignal(mergeOutcomes(outcomeSums(first), outcomeSums(second)));
    expect(merged).toMatchObject({ groups: 2, singletonGroups: 2, groupsWithSignal: 0 });
  });

  it('leaves out trajectories without an outcome, and groups without any', () => {
    const found = signalOf(['A', 'g', 1, 1], ['B', 'g', 1], ['C', 'h', 1]);
    expect(found).toMatchObject({ groups: 2, singletonGroups: 1, comparableGroups: 0, meanOutcome: 1 });
  });

  it('says nothing about success where nobody said it', () => {
    const found = signalOf(['A', 'g', 1, 1], ['B', 'g', 1, 0]);
    expect(found).toMatchObject({
      groupsWithSignal: 1,
      solvePartial: 0,
      successRate: null,
      expectedZeroFraction: null,
    });
    expect(found.reasons['successRate']).toBe('no trajectory says whether it succeeded');
  });

  it('is empty for nothing', () => {
    expect(learningSignal(NO_OUTCOMES)).toMatchObject({ groups: 0, meanOutcome: null, silentTurnShare: null });
  });
});
