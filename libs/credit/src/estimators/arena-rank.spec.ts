import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import type { Duel } from '../tournaments.js';
import { anchorRanking, doubleEliminationRanking, roundRobinRanking, singleEliminationRanking, swissRanking } from '../tournaments.js'; // prettier-ignore
import { arenaRank } from './arena-rank.js';

/** Players of a strength each, who beat everybody weaker. */
const players = (group: string, ...strengths: number[]) => {
  const records = strengths.map((judgeScore) => ({ ...rollout(group, 0), signals: { judgeScore } }));
  return records.map((record, i) => ({
    ...record,
    signals: {
      ...record.signals,
      comparisons: records.slice(i + 1).map((other) => ({
        a: record.id,
        b: other.id,
        scoreA: record.signals.judgeScore,
        scoreB: other.signals.judgeScore,
      })),
    },
  }));
};
const TOPOLOGIES = ['singleElimination', 'roundRobin', 'anchor', 'swiss', 'doubleElimination'];
const rewards = (records: ReturnType<typeof players>, params = {}) =>
  estimateOf(arenaRank, records, params).columns['rankReward'] as number[];

describe('arena-rank', () => {
  it('ranks by strength where the stronger always wins', () => {
    const five = players('g', 3, 5, 2, 4, 1);
    expectNumbers(rewards(five, { topology: 'roundRobin' }), [0.5, 1, 0.25, 0.75, 0], 1e-12);
    const { trajectoryAdvantage, columns } = estimateOf(arenaRank, five, { topology: 'roundRobin' });
    expectNumbers(trajectoryAdvantage, [0, 1.2649, -0.6325, 0.6325, -1.2649], 1e-4);
    expect(columns['judgeCalls']).toEqual([10]);
  });

  it('knocks out, so that the second strongest may meet the strongest early', () => {
    // seeds by the anchor (own scores, the anchor's 3): 5 4 3 2 1; bracket [0, 3, 4, 1, 2] of seeds: 5-2, 1-4, bye 3
    const { columns } = estimateOf(arenaRank, players('g', 3, 5, 2, 4, 1));
    expectNumbers(columns['rankReward'], [0.5, 1, 0.25, 0.75, 0], 1e-12);
    expect(columns['judgeCalls']).toEqual([8]);
  });

  it('says nothing of a group that needs a pair nobody judged, unless it may go by the judge scores', () => {
    const [a, b, c] = players('g', 3, 1, 2);
    const records = [{ ...a, signals: { ...a.signals, comparisons: [] } }, b, c, ...players('h', 1, 2)];
    const { values, silent } = creditOf(arenaRank, records);
    expect([...values].map(Number.isNaN)).toEqual([true, true, true, false, false]);
    expect(silent).toEqual({ rows: 3, why: 'its group needs a pair that was not judged' });
    expectNumbers(rewards(records, { fallback: 'judgeScore' }), [1, 0.5, 0, 0, 1], 1e-12);
    // the anchor topology needs no pair without the first
    expect([...creditOf(arenaRank, [a, { ...b, signals: { ...b.signals, comparisons: [] } }, c], { topology: 'anchor' }).values].every(Number.isFinite)).toBe(true); // prettier-ignore
  });

  it('takes the mean of a pair that was judged twice', () => {
    const [a, b] = players('g', 1, 2);
    const again = { a: b.id, b: a.id, scoreA: 0, scoreB: 9 };
    expect(rewards([{ ...a, signals: { ...a.signals, comparisons: [...a.signals.comparisons, again] } }, b])).toEqual([1, 0]); // prettier-ignore
  });

  it('gives a group of one 0, and so it does in ties but where a bracket must decide', () => {
    for (const topology of TOPOLOGIES) {
      expect([...creditOf(arenaRank, players('g', 1), { topology }).values]).toEqual([0]);
      const tied = [...creditOf(arenaRank, players('g', 2, 2, 2, 2), { topology }).values];
      const isBracket = topology.endsWith('Elimination');
      expect(tied.every((value) => value === 0)).toBe(!isBracket);
    }
  });

  it('does not care in which order the groups stand', () => {
    const [g, h] = [players('g', 3, 1, 2), players('h', 1, 2, 5, 4)];
    expect(rewards([...h, ...g])).toEqual([...rewards(h), ...rewards(g)]);
  });
});

describe('a tournament', () => {
  const rankings = {
    anchor: anchorRanking,
    roundRobin: roundRobinRanking,
    singleElimination: singleEliminationRanking,
    doubleElimination: doubleEliminationRanking,
    swiss: (n: number, duel: Duel) => swissRanking(n, duel, null),
  };

  it('is won by who beats everybody, with rewards in 0 .. 1', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 2, maxLength: 11 }), (strengths) => {
        const best = strengths.indexOf(Math.max(...strengths));
        for (const rank of Object.values(rankings)) {
          const { rewards } = rank(strengths.length, (i, j) => [strengths[i], strengths[j]]);
          expect(rewards[best]).toBe(Math.max(...rewards));
          expect(rewards.every((reward) => reward >= 0 && reward <= 1)).toBe(true);
        }
      }),
    );
  });

  it('looks at as many duels as its kind needs, and at none twice inside a bracket', () => {
    const calls = (n: number) =>
      Object.fromEntries(
        Object.entries(rankings).map(([name, rank]) => [name, rank(n, (i, j) => [n - i, n - j]).calls]),
      );
    expect(calls(5)).toEqual({ anchor: 4, roundRobin: 10, singleElimination: 8, doubleElimination: 8, swiss: 6 });
    expect(calls(8)).toEqual({ anchor: 7, roundRobin: 28, singleElimination: 14, doubleElimination: 14, swiss: 12 });
  });

  it('of the knock-out kind gives a tie to the first of the two', () => {
    expectNumbers(singleEliminationRanking(5, () => [10, 10]).rewards, [0.5, 0, 0.75, 0.25, 1], 1e-12);
    expect(singleEliminationRanking(2, () => [1, 1]).rewards).toEqual([1, 0]);
  });

  it('of the Swiss kind gives tied players the mean of their places', () => {
    expect(swissRanking(4, () => [1, 1], null).rewards).toEqual([0.5, 0.5, 0.5, 0.5]);
    expectNumbers(swissRanking(4, (i, j) => [4 - i, 4 - j], 1).rewards, [5 / 6, 1 / 6, 5 / 6, 1 / 6], 1e-12);
  });
});
