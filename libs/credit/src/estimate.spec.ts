import { describe, expect, it } from 'vitest';
import { estimate } from './estimate.js';
import { defineEstimator } from './estimator.js';
import { rollout, visits } from './estimator.fixture.js';
import { gigpo } from './estimators/gigpo.js';
import { grpo } from './estimators/grpo.js';
import { litePpo } from './estimators/lite-ppo.js';
import { z } from 'zod';

describe('estimate', () => {
  it('nests the credit like the trajectories and repeats it downwards, 0 on masked tokens', () => {
    const tokens = { logprob: [-1, -2], mask: [1, 0] };
    const records = [rollout('g', 1, [{ tokens }, {}]), rollout('g', 0, [])];
    expect(estimate(grpo, records, { normalizeByStd: false })).toEqual({
      kind: 'credit',
      estimator: 'grpo',
      version: 1,
      params: { normalizeByStd: false, epsilon: 1e-6, statsAcross: 'trajectories', singleton: 'raw' },
      level: 'trajectory',
      trajectoryAdvantage: [0.5, -0.5],
      turnAdvantage: [[0.5, 0.5], []],
      tokenAdvantage: [[[0.5, 0], []], []],
      columns: { groupMean: [0.5, 0.5] },
      groups: ['g'],
      partitions: [],
      warnings: [],
    });
  });

  it('runs one batch per training step, results in the order of the input', () => {
    // step 3: 1, 0; step 7: 5, 1; each has the spread of its own step alone
    const records = [rollout('g', 1, [], 3), rollout('g', 5, [], 7), rollout('g', 1, [], 7), rollout('g', 0, [], 3)];
    const result = estimate(litePpo, records, { epsilon: 0 });
    const [a, b, c, d] = (result.kind === 'credit' && result.trajectoryAdvantage) as number[];
    expect([a, b]).toEqual([expect.closeTo(Math.SQRT1_2, 9), expect.closeTo(Math.SQRT1_2, 9)]);
    expect([c, d]).toEqual([-b, -a]);
  });

  it('keeps the labels of different steps apart', () => {
    const records = [0, 1].flatMap((step) => [
      rollout('g', 1, visits(['home', 0], ['shelf', 1]), step),
      rollout('g', 0, visits(['home', 0]), step),
    ]);
    const result = estimate(gigpo, records);
    expect(result.kind === 'credit' && result.columns.stepGroup).toEqual([[0, 1], [0], [2, 3], [2]]);
  });

  it('names the training step of a warning', () => {
    const result = estimate(grpo, [rollout('g', 1, [], 3), rollout('g', 0, [], 7), rollout('h', 2, [], 7)]);
    expect(result.kind === 'credit' && result.warnings).toEqual([
      'training step 3: groups of one trajectory that still got credit: 1 of 1',
      'training step 7: groups of one trajectory that still got credit: 1 of 2',
    ]);
  });

  it('counts what is missing over all steps', () => {
    const { outcomeReward: _, ...bare } = rollout('g', 0, [], 1);
    expect(estimate(grpo, [rollout('g', 1), bare])).toMatchObject({
      kind: 'missing',
      missing: [{ path: 'trajectory.outcomeReward', rows: 1, of: 2 }],
    });
  });

  it('answers for no record', () => {
    expect(estimate(grpo, [])).toMatchObject({ level: 'trajectory', trajectoryAdvantage: [], turnAdvantage: [] });
  });

  it('lays out columns of groups and of the shard', () => {
    const sizes = defineEstimator({
      ...grpo,
      id: 'sizes',
      conditional: [],
      signalParams: [],
      params: z.strictObject({}),
      estimate: ({ groupOf, groupCount }) => {
        const size = new Float64Array(groupCount);
        for (const group of groupOf) size[group]++;
        return {
          level: 'trajectory',
          values: Float64Array.from(groupOf, () => NaN),
          explain: {
            groupSize: { level: 'group', values: size },
            size: { level: 'shard', values: Float64Array.of(groupOf.length) },
          },
        };
      },
    });
    const records = [rollout('g', 0, [], 1), rollout('h', 0, [], 0), rollout('g', 0, [], 1), rollout('g', 0, [], 0)];
    const several = estimate(sizes, records);
    expect(several).toMatchObject({ columns: { groupSize: [2, 1, 1], size: [2, 2] } });
    expect(several).toMatchObject({ trajectoryAdvantage: [null, null, null, null] });
    expect(estimate(sizes, records.slice(0, 1))).toMatchObject({ columns: { size: 1 } });
  });

  it('lists a selection of groups without those that say nothing', () => {
    const chosen = defineEstimator({
      ...grpo,
      id: 'chosen',
      conditional: [],
      signalParams: [],
      params: z.strictObject({}),
      estimate: ({ groupOf, groups }) => {
        const values = groups.map((name) => (name === 'g' ? null : name));
        const credit = { level: 'trajectory', values: new Float64Array(groupOf.length) } as const;
        return { ...credit, explain: { others: { level: 'group', values, selection: true } } };
      },
    });
    const records = [rollout('g', 0, [], 1), rollout('k', 0, [], 0), rollout('h', 0, [], 1), rollout('g', 0, [], 0)];
    expect(estimate(chosen, records)).toMatchObject({ columns: { others: ['k', 'h'] } });
    expect(estimate(chosen, records.slice(0, 1))).toMatchObject({ columns: { others: [] } });
  });
});
