import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches, creditOf, estimateOf, expectNumbers, rollout, visits } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { gigpo } from './gigpo.js';
import { grpo } from './grpo.js';

// home → shelf with reward 1 at the end; home, home (an invalid action), shelf with none; home with 1 at once
const EXAMPLE = [
  rollout('g', 1, visits(['home', 0], ['shelf', 1])),
  rollout('g', 0, [
    { state: 'home', reward: 0 },
    { state: 'home', reward: 0, signals: { isActionValid: false } },
    { state: 'shelf', reward: 0 },
  ]),
  rollout('g', 1, visits(['home', 1])),
];

describe('gigpo', () => {
  it('gives the numbers of its page', () => {
    const { turnAdvantage, columns } = estimateOf(gigpo, EXAMPLE, { gamma: 0.5 });
    expectNumbers(columns.turnReturn, [0.5, 1, 0, 0, 0, 1], 1e-12);
    expect(columns.stepGroup).toEqual([[0, 1], [0, 0, 1], [0]]);
    // outcomes per turn 1, 1, 0, 0, 0, 1: mean 0.5; returns from home 0.5, 0, 0, 1: mean 0.375; from shelf 1, 0
    expectNumbers(columns.episodeAdvantage, [0.5, 0.5, -0.5, -0.5, -0.5, 0.5], 1e-12);
    expectNumbers(columns.stepAdvantage, [0.125, 0.5, -0.375, -0.375, -0.5, 0.625], 1e-12);
    expectNumbers(turnAdvantage, [0.625, 1, -0.875, -0.875, -1, 1.125], 1e-12);
  });

  it('divides both parts by their spread where asked', () => {
    const { values } = creditOf(gigpo, EXAMPLE, { gamma: 0.5, normalizeByStd: true });
    expectNumbers(values, [1.173985, 1.619975, -1.696217, -1.696217, -1.619975, 2.218449]);
  });

  it('takes a penalty from its own turn only, after discounting', () => {
    const { values } = creditOf(gigpo, EXAMPLE, { gamma: 0.5, invalidActionPenalty: 0.1 });
    expectNumbers(values, [0.666667, 1.016667, -0.833333, -1.033333, -0.983333, 1.166667]);
  });

  it('counts a trajectory once where trajectories are the sample', () => {
    const { values } = creditOf(gigpo, EXAMPLE, { gamma: 0.5, statsAcross: 'trajectories' });
    expectNumbers(values, [0.458333, 0.833333, -1.041667, -1.041667, -1.166667, 0.958333]);
  });

  it('leaves a trajectory without turns out of that sample', () => {
    const { values } = creditOf(gigpo, [...EXAMPLE, rollout('g', 9, [])], { gamma: 0.5, statsAcross: 'trajectories' });
    expectNumbers(values, creditOf(gigpo, EXAMPLE, { gamma: 0.5, statsAcross: 'trajectories' }).values, 0);
  });

  it('keeps a penalty visible in a sample of trajectories that agree', () => {
    const turn = { state: 'home', reward: 0 };
    const records = [rollout('g', 1, [turn, { ...turn, signals: { isActionValid: 0 } }]), rollout('g', 1, [turn])];
    const params = { statsAcross: 'trajectories', invalidActionPenalty: 0.1 };
    expectNumbers(estimateOf(gigpo, records, params).columns.episodeAdvantage, [0, -0.1, 0], 1e-12);
  });

  it('joins states of one group only', () => {
    const records = [rollout('g', 1, visits(['home', 1])), rollout('h', 0, visits(['home', 0]))];
    expect(estimateOf(gigpo, records).columns.stepGroup).toEqual([[0], [1]]);
    expectNumbers(estimateOf(gigpo, records).columns.stepAdvantage, [0, 0], 0);
  });

  it('joins states that resemble the first of their cluster, in the order of the batch', () => {
    // SLEA-RL's example: the counters resemble each other, what else was seen does not
    const records = [
      rollout('g', 1, visits(['you arrive at counter 1', 0], ['you hold the mug', 1])),
      rollout('g', 0, visits(['you arrive at counter 2', 0], ['nothing', 0])),
    ];
    const params = { enableSimilarity: true, similarityThreshold: 0.85 };
    const { turnAdvantage, columns } = estimateOf(gigpo, records, params);
    expect(columns.stepGroup).toEqual([[0, 1], [0, 2]]); // prettier-ignore
    expectNumbers(columns.stepAdvantage, [0.475, 0, -0.475, 0], 1e-12);
    expectNumbers(turnAdvantage, [0.975, 0.5, -0.975, -0.5], 1e-12);
  });

  it('compares with the first member of a cluster, not with the last to join', () => {
    // neighbours share 3 of 4 letters (ratio 0.75), the ends 2 (0.5)
    const records = [rollout('g', 0, visits(['abcd', 0], ['abce', 0], ['abfe', 0]))];
    const groupsOf = (rows: typeof records) =>
      estimateOf(gigpo, rows, { enableSimilarity: true, similarityThreshold: 0.7 }).columns.stepGroup;
    expect(groupsOf(records)).toEqual([[0, 0, 1]]);
    expect(groupsOf([{ ...records[0], turns: visits(['abce', 0], ['abcd', 0], ['abfe', 0]) }])).toEqual([[0, 0, 0]]);
  });

  it('is the same with similarity where no two states resemble each other', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const exact = creditOf(gigpo, records).values;
        expect(creditOf(gigpo, records, { enableSimilarity: true }).values).toEqual(exact);
      }),
    );
  });

  it('is grpo over turns where the step part weighs nothing', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const params = { normalizeByStd: true, stepAdvantageWeight: 0 };
        const outcome = estimateOf(grpo, records, { statsAcross: 'turns' }).turnAdvantage;
        expectNumbers(estimateOf(gigpo, records, params).turnAdvantage, outcome, 1e-12);
      }),
    );
  });

  it('has a step part that sums to zero over each anchor group', () => {
    fc.assert(
      fc.property(batches, (records) => {
        const { stepGroup, stepAdvantage } = creditOf(gigpo, records, { normalizeByStd: true }).explain!;
        const sums = new Map<number, number>();
        (stepGroup.values as Float64Array).forEach((group, t) =>
          sums.set(group, (sums.get(group) ?? 0) + Number(stepAdvantage.values[t])),
        );
        for (const sum of sums.values()) expect(sum).toBeCloseTo(0, 6);
      }),
    );
  });

  it('gives exactly 0 where outcomes and returns agree', () => {
    const records = [0.1, 0.1, 0.1].map((reward) => rollout('g', reward, visits(['home', 0.1])));
    expect([...creditOf(gigpo, records, { normalizeByStd: true }).values]).toEqual([0, 0, 0]);
  });

  it('keeps the outcome of a lonely turn, or withholds it', () => {
    const one = [rollout('g', 0.5, visits(['home', 0.5]))];
    const two = [rollout('g', 0.5, visits(['home', 0], ['shelf', 0.5]))];
    expectNumbers(creditOf(gigpo, one).values, [0.5], 0);
    expectNumbers(creditOf(gigpo, one, { singleton: 'zero' }).values, [0], 0);
    expectNumbers(creditOf(gigpo, two).values, [0, 0], 0);
    expect(estimateOf(gigpo, [...one, ...EXAMPLE.map((record) => ({ ...record, group: 'h' }))]).warnings).toEqual([
      'groups of one trajectory that still got credit: 1 of 2',
    ]);
  });

  it('takes an action of which nothing is said for valid', () => {
    const records = EXAMPLE.map(({ turns, ...record }) => ({
      ...record,
      turns: turns.map((turn) => ({ ...turn, signals: { isActionValid: null } })),
    }));
    expectNumbers(creditOf(gigpo, records, { invalidActionPenalty: 5 }).values, creditOf(gigpo, records).values, 0);
  });

  it('wants the texts of states only for similarity', () => {
    const bare = { ...trajectoryBatch(EXAMPLE), texts: null };
    expect(runEstimator(gigpo, bare).kind).toBe('credit');
    expect(() => runEstimator(gigpo, bare, { enableSimilarity: true })).toThrow(/texts/);
  });

  it('says on how many turns no state was said', () => {
    const records = [rollout('g', 0, [{ state: 'home', reward: 0 }, { reward: 0 }])];
    expect(runEstimator(gigpo, trajectoryBatch(records))).toEqual({
      kind: 'missing',
      missing: [{ path: 'turn.state', rows: 1, of: 2 }],
    });
  });
});
