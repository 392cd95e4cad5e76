import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEstimator, type Column } from './estimator.js';
import { grpo } from './estimators/grpo.js';
import { gigpo } from './estimators/gigpo.js';
import { treerl } from './estimators/treerl.js';
import { checkVectors, differences } from './vectors.js';

const rollout = (id: string, outcomeReward: number | null, turns: object[] = [{}]) => ({
  id,
  group: 'g',
  trainingStep: 0,
  outcomeReward,
  turns,
});
const vector = (expected: object, rest: object = {}) => ({
  name: 'a case',
  params: { epsilon: 0, normalizeByStd: false },
  tolerance: 1e-9,
  trajectories: [rollout('a', 1), rollout('b', 0, [{}, {}])],
  expected,
  ...rest,
});

describe('differences', () => {
  it('are none where everything agrees', () => {
    const expected = { trajectoryAdvantage: [0.5, -0.5], turnAdvantage: [[0.5], [-0.5, -0.5]], groupMean: [0.5, 0.5] };
    expect(differences(grpo, vector(expected))).toEqual([]);
  });

  it('name the place, the numbers and how far they are apart', () => {
    expect(differences(grpo, vector({ turnAdvantage: [[0.5], [-0.5, -0.25]] }))).toEqual([
      'turnAdvantage[1][1]: expected -0.25, got -0.5, off by 0.250',
    ]);
  });

  it('see another shape', () => {
    expect(differences(grpo, vector({ turnAdvantage: [[0.5], [-0.5]] }))).toEqual([
      'turnAdvantage[1]: expected 1 values, got 2',
    ]);
    expect(differences(grpo, vector({ trajectoryAdvantage: [[0.5], -0.5] }))).toEqual([
      'trajectoryAdvantage[0]: expected a list of 1, got 0.5',
    ]);
  });

  it('see a number where nothing should be said', () => {
    expect(differences(grpo, vector({ trajectoryAdvantage: [null, -0.5] }))).toEqual([
      'trajectoryAdvantage[0]: expected null, got 0.5',
    ]);
  });

  it('name the columns there are when another is expected', () => {
    expect(differences(grpo, vector({ nodeValue: [1] }))).toEqual([
      'nodeValue: grpo gives no such column; it gives trajectoryAdvantage, turnAdvantage, groupMean',
    ]);
  });

  it('are the missing signal where one is null', () => {
    const trajectories = [rollout('a', 1), rollout('b', null)];
    expect(differences(grpo, vector({ trajectoryAdvantage: [0, 0] }, { trajectories }))).toEqual([
      'trajectory.outcomeReward is missing on 1 of 2 trajectories',
    ]);
  });

  it('are the refusal of a param', () => {
    expect(differences(grpo, vector({}, { params: { epsilom: 1 } }))[0]).toMatch(/epsilom/);
  });

  it('are cut off where there are many', () => {
    const trajectories = Array.from({ length: 20 }, (_, i) => rollout(`t${i}`, i));
    const found = differences(grpo, vector({ trajectoryAdvantage: trajectories.map(() => 99) }, { trajectories }));
    expect(found).toHaveLength(9);
    expect(found[8]).toBe('... and 12 more');
  });

  it('compare partitions as partitions', () => {
    const turn = (state: string | null) => ({ state, reward: 0 });
    const trajectories = [rollout('a', 1, [turn('x'), turn('y')]), rollout('b', 0, [turn('x')])];
    const of = (stepGroup: unknown) => differences(gigpo, { ...vector({ stepGroup }, { trajectories }), params: {} });
    expect(of([['left', 'right'], ['left']])).toEqual([]);
    expect(of([[7, 7], [7]])).toEqual(['stepGroup[0][1]: is apart from the others of 7']);
    expect(of([[0, 1], [2]])).toEqual(['stepGroup[1][0]: 2 is together with 0']);
    expect(of([[0, 1]])).toEqual(['stepGroup: expected a list of 1, got a list of 2']);
  });
});

describe('checkVectors', () => {
  it('reports each case with its largest error', () => {
    const json = {
      estimator: 'grpo',
      cases: [vector({ trajectoryAdvantage: [0.5 + 1e-10, -0.5] }), vector({ trajectoryAdvantage: [0, 0] })],
    };
    const { status, cases } = checkVectors(json);
    expect(status).toBe('checked');
    expect(cases.map(({ ok }) => ok)).toEqual([true, false]);
    expect(cases[0].largestError).toBeCloseTo(1e-10, 15);
    expect(cases[1].largestError).toBe(0.5);
  });

  it('takes the default params and tolerance where a case names none', () => {
    const {
      params: _,
      tolerance: __,
      ...rest
    } = vector({ trajectoryAdvantage: [Math.SQRT1_2 + 5e-6, -Math.SQRT1_2 + 5e-6] });
    expect(checkVectors({ estimator: 'grpo', cases: [rest] }).cases[0]).toMatchObject({ ok: true, tolerance: 1e-5 });
  });

  it('passes nothing that it does not know', () => {
    expect(checkVectors({ estimator: 'no-such-method', cases: [vector({})] })).toMatchObject({
      status: 'unknown estimator',
    });
    expect(checkVectors({ diagnostic: 'pass-at-k', cases: [] })).toMatchObject({ status: 'unknown diagnostic' });
  });

  it('checks texts', () => {
    const pairs = [
      { a: 'abcd', b: 'bcde', ratio: 0.75, similarAt095: false },
      { a: 'tide', b: 'diet', ratio: 0.5, similarAt095: true },
    ];
    const [checked] = checkVectors({ estimator: 'difflib-ratio', cases: [{ name: 'pairs', pairs }] }).cases;
    expect(checked.differences).toEqual([
      'pairs[1].ratio: expected 0.5, got 0.25, off by 0.250',
      'pairs[1].similarAt095: expected 1, got 0, off by 1.00',
    ]);
  });

  it('refuses what is no vector file', () => {
    expect(() => checkVectors([])).toThrow(/not a vector file/);
    expect(() => checkVectors({ cases: [] })).toThrow(/names its estimator/);
    expect(() => checkVectors({ estimator: 'grpo', cases: [{ name: 'x', expected: {} }] })).toThrow(/trajectories/);
  });
});

describe('the cases of a file', () => {
  const spread = defineEstimator({
    id: 'spread',
    version: 1,
    title: 'Spread',
    citation: {},
    status: 'own',
    gives: 'reward',
    levels: ['turn'],
    groupRelative: false,
    requires: ['turn.score'],
    accepts: ['trajectory.comparisons'],
    kinds: { 'trajectory.comparisons': z.array(z.object({ scoreA: z.number() })) },
    params: z.strictObject({}),
    estimate({ groupOf, groupCount }, columns) {
      const sums = new Float64Array(groupCount);
      columns['turn.score'].forEach((score, t) => (sums[groupOf[t]] += score));
      columns['trajectory.comparisons']?.forEach((each, i) => each?.forEach(({ scoreA }) => (sums[groupOf[i]] += scoreA))); // prettier-ignore
      const values = Float64Array.from(columns['turn.score']);
      return {
        level: 'turn',
        values,
        explain: { sums: { level: 'group', values: sums }, own: { level: 'turn', values } },
      };
    },
  });
  const turn = (id: string, group: string, score: number) => ({ id, group, trainingStep: 0, turns: [{ signals: { score } }] }); // prettier-ignore
  const trajectories = [turn('a', 'g', 1), turn('b', 'h', 2)];

  it('may say a value per group by its name', () => {
    expect(differences(spread, { name: 'x', trajectories, expected: { sums: { h: 2, g: 1 } } })).toEqual([]);
    expect(differences(spread, { name: 'x', trajectories, expected: { sums: { h: 2, g: 2 } } })).not.toEqual([]);
    expect(differences(spread, { name: 'x', trajectories, expected: { sums: { h: 2 } } })).not.toEqual([]);
    expect(differences(spread, { name: 'x', trajectories, expected: { sums: { g: 1, k: 2 } } })).not.toEqual([]);
  });

  it('may say null of a whole trajectory, which must then be silent on all of it', () => {
    const selected = (id: string, is: boolean) => ({ ...turn(id, 'g', 1), outcomeReward: 1, signals: { selectedForTraining: is } }); // prettier-ignore
    const trajectories = [selected('a', true), selected('b', false)];
    expect(differences(treerl, { name: 'x', trajectories, expected: { turnAdvantage: [[0], null] } })).toEqual([]);
    expect(differences(treerl, { name: 'x', trajectories, expected: { turnAdvantage: [null, null] } })).toEqual([
      'turnAdvantage[0]: expected null, got a list of 1',
    ]);
  });

  it('may hold an object, which is a column per key, and a list of objects, each column a list', () => {
    const column = (values: Iterable<number>, offsets?: Int32Array): Column => ({
      level: offsets ? 'shard' : 'trajectory',
      values: Float64Array.from(values),
      ...(offsets && { offsets }),
    });
    const keyed = defineEstimator({
      ...spread,
      levels: ['trajectory'],
      estimate({ ids }) {
        const explain = { 'score.min': column(ids.map(() => 1)), 'tried.size': column([1, 2], Int32Array.of(0, 2)), 'tried.rate': column([0.5, NaN], Int32Array.of(0, 2)) }; // prettier-ignore
        return { level: 'trajectory', values: new Float64Array(ids.length), explain };
      },
    });
    const agrees = { score: { min: [1, 1] }, tried: [{ size: 1, rate: 0.5 }, { size: 2 }] }; // prettier-ignore
    expect(differences(keyed, { name: 'x', trajectories, expected: agrees })).toEqual([]);
    const differs = { score: { min: [1, 2], max: [1, 1] }, tried: [{ size: 1, rate: 0.5 }, { size: 3 }] }; // prettier-ignore
    expect(differences(keyed, { name: 'x', trajectories, expected: differs })).toEqual([
      'score.min[1]: expected 2, got 1, off by 1.00',
      expect.stringContaining('score.max: spread gives no such column'),
      'tried.size[1]: expected 3, got 2, off by 1.00',
    ]);
  });

  it('may hold comparisons, which are a signal of the first one named', () => {
    const comparisons = [{ a: 'b', b: 'a', scoreA: 5 }];
    expect(differences(spread, { name: 'x', trajectories, comparisons, expected: { sums: [1, 7] } })).toEqual([]);
  });

  it('may be pairs of turns, a group each, or items of one turn', () => {
    const pairs = [{ id: 'p', chosen: { score: 3 }, rejected: { score: 1 } }];
    expect(differences(spread, { name: 'x', pairs, expected: { sums: [4], turnAdvantage: [[3], [1]] } })).toEqual([]);
    const items = [{ score: 3 }, { score: 1 }];
    expect(differences(spread, { name: 'x', items, expected: { own: [3, 1], sums: [3, 1] } })).toEqual([]);
  });
});
