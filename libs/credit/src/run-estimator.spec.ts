import { trajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEstimator, type Credit } from './estimator.js';
import { rollout, rollouts } from './estimator.fixture.js';
import { ESTIMATORS } from './estimators/index.js';
import { gae } from './estimators/gae.js';
import { gigpo } from './estimators/gigpo.js';
import { grpo } from './estimators/grpo.js';
import { findEstimator } from './find-estimator.js';
import { missingText, needsOf } from './needs.js';
import { paramsSchema, runEstimator } from './run-estimator.js';

const answering = (credit: Credit) =>
  defineEstimator({
    ...grpo,
    id: 'broken',
    conditional: [],
    signalParams: [],
    params: z.strictObject({}),
    estimate: () => credit,
  });

describe('runEstimator', () => {
  const trajectories = trajectoryBatch(rollouts('g', 1, 0));

  it('refuses params by name and value, with a code', () => {
    const run = (params: unknown) => () => runEstimator(grpo, trajectories, params);
    expect(run({ epsilon: -1 })).toThrow(RecreditError);
    expect(run({ epsilon: -1 })).toThrow(/grpo: .*epsilon/s);
    expect(run({ statsAcross: 'rows' })).toThrow(/statsAcross/);
    expect(run({ epsilom: 1 })).toThrow(/epsilom/);
    expect(run(null)).toThrow(RecreditError);
  });

  it('lets no estimator answer at another level or with another length', () => {
    const run = (credit: Credit) => () => runEstimator(answering(credit), trajectories);
    expect(run({ level: 'turn', values: new Float64Array(2) })).toThrow(/no level turn/);
    expect(run({ level: 'trajectory', values: new Float64Array(3) })).toThrow(/3 rows, trajectory has 2/);
    const whole = { level: 'trajectory', values: new Float64Array(2) } as const;
    const short = { level: 'group', values: new Float64Array(2) } as const;
    expect(run({ ...whole, explain: { short } })).toThrow(/short has 2 rows, group has 1/);
  });

  it('says nothing where the numbers overflow, and warns of it', () => {
    const overflowing = rollouts('g', 1e308, 1e308, 0);
    const outcome = runEstimator(grpo, trajectoryBatch([...overflowing, ...rollouts('h', 0, 1)]));
    if (outcome.kind !== 'credit') throw new TypeError('credit was wanted');
    expect([...outcome.credit.values].map(Number.isFinite)).toEqual([false, false, false, true, true]);
    expect(outcome.warnings).toEqual(['no credit on 3 of 5 trajectory rows: the numbers it is made of overflow']);
  });

  it('tells silence that was meant from an overflow', () => {
    const values = Float64Array.of(NaN, NaN, 1);
    const warningsOf = (credit: Credit) => {
      const outcome = runEstimator(answering(credit), trajectoryBatch(rollouts('g', 1, 0, 0)));
      return outcome.kind === 'credit' && outcome.warnings;
    };
    const level = 'trajectory';
    expect(warningsOf({ level, values, silent: { rows: 2, why: 'not selected' } })).toEqual([
      'no credit on 2 of 3 trajectory rows: not selected',
    ]);
    expect(warningsOf({ level, values, silent: { rows: 1, why: 'not selected' } })).toEqual([
      'no credit on 1 of 3 trajectory rows: not selected',
      'no credit on 1 of 3 trajectory rows: the numbers it is made of overflow',
    ]);
    expect(warningsOf({ level, values: new Float64Array(3), silent: { rows: 0, why: 'not selected' } })).toEqual([]);
  });

  it('divides by no spread that overflows', () => {
    const outcome = runEstimator(grpo, trajectoryBatch(rollouts('g', 1e200, -1e200)));
    expect(outcome).toMatchObject({ kind: 'credit', credit: { values: Float64Array.of(NaN, NaN) } });
  });

  it('warns of groups of one that got credit, and only of those', () => {
    const warningsOf = (records: ReturnType<typeof rollouts>, params = {}) => {
      const outcome = runEstimator(grpo, trajectoryBatch(records), params);
      return outcome.kind === 'credit' && outcome.warnings;
    };
    const records = [...rollouts('g', 1, 0), rollout('h', 1), rollout('k', 0), rollout('l', 2)];
    expect(warningsOf(records)).toEqual(['groups of one trajectory that still got credit: 2 of 4']);
    expect(warningsOf(records, { singleton: 'zero' })).toEqual([]);
    expect(warningsOf(rollouts('g', 1, 0))).toEqual([]);
  });
});

describe('needsOf', () => {
  it('follows the params', () => {
    expect(needsOf(gae, { granularity: 'turn' }).requires).toEqual(['turn.reward', 'turn.valueEstimate']);
    expect(needsOf(gae, { granularity: 'token' })).toEqual({
      requires: ['token.reward', 'token.value'],
      accepts: ['token.mask'],
      kinds: {},
      where: {},
      unless: {},
      sparse: [],
      texts: false,
    });
    expect(needsOf(gigpo, { enableSimilarity: true }).texts).toBe(true);
    expect(needsOf(gigpo, { enableSimilarity: false }).texts).toBe(false);
  });

  it('holds the signals that params name', () => {
    const named = defineEstimator({
      ...grpo,
      id: 'named',
      conditional: [],
      estimate: () => ({ level: 'trajectory', values: new Float64Array(2) }),
      params: z.strictObject({ metric: z.string().default('outcomeReward') }),
      signalParams: [{ param: 'metric', level: 'trajectory' }],
    });
    expect(needsOf(named, { metric: 'score' }).requires).toEqual(['trajectory.outcomeReward', 'trajectory.score']);
    expect(runEstimator(named, trajectoryBatch(rollouts('g', 1, 0)), { metric: 'score' })).toEqual({
      kind: 'missing',
      missing: [{ path: 'trajectory.score', rows: 2, of: 2 }],
    });
  });

  it('lets no mask be missing where there are tokens: absent means all 1', () => {
    const masked = defineEstimator({
      ...grpo,
      id: 'masked',
      levels: ['token'],
      requires: ['token.mask'],
      accepts: [],
      conditional: [],
      signalParams: [],
      params: z.strictObject({}),
      estimate: (_, columns) => ({ level: 'token', values: Float64Array.from(columns['token.mask']) }),
    });
    const valuesOf = (tokens: Record<string, number[]>) => {
      const outcome = runEstimator(masked, trajectoryBatch([rollout('g', 0, [{ tokens }, {}])]));
      return outcome.kind === 'credit' ? [...outcome.credit.values] : outcome.missing;
    };
    expect(valuesOf({ logprob: [0, 0], mask: [0, 1] })).toEqual([0, 1]);
    expect(valuesOf({ logprob: [0, 0] })).toEqual([1, 1]);
    expect(valuesOf({})).toEqual([{ path: 'token.mask', rows: 0, of: 0 }]);
  });

  it('lets a flag excuse a row, and a sparse signal be null once it is recorded', () => {
    const needy = defineEstimator({
      ...grpo,
      id: 'needy',
      requires: ['trajectory.outcomeReward', 'trajectory.vote'],
      accepts: [],
      sparse: ['trajectory.vote'],
      conditional: [{ when: {}, unless: 'trajectory.cut', requires: ['trajectory.score'] }],
      signalParams: [],
      params: z.strictObject({}),
      estimate: (_, columns) => ({ level: 'trajectory', values: Float64Array.from(columns['trajectory.vote']) }),
    });
    const run = (...signals: object[]) =>
      runEstimator(needy, trajectoryBatch(signals.map((each) => ({ ...rollout('g', 0), signals: each as never }))));
    expect(run({ vote: 1, score: 1 }, { vote: null, cut: true })).toMatchObject({ kind: 'credit' });
    expect(run({ score: 1 }, { score: 1 })).toMatchObject({ missing: [{ path: 'trajectory.vote', rows: 2, of: 2 }] });
    expect(run({ vote: 1 }, { cut: 1 }, { cut: false, score: 2 })).toMatchObject({
      missing: [{ path: 'trajectory.score', rows: 1, of: 3 }],
    });
    expect(run({ vote: 1 }, { cut: 1 })).toMatchObject({ missing: [{ path: 'trajectory.score', rows: 1, of: 2 }] });
  });

  it('is said in a sentence', () => {
    const missing = [
      { path: 'turn.reward', rows: 3, of: 1200 },
      { path: 'trajectory.outcomeReward', rows: 1, of: 4 },
    ] as const;
    expect(missingText(missing)).toBe(
      'turn.reward is missing on 3 of 1,200 turns; trajectory.outcomeReward is missing on 1 of 4 trajectories',
    );
  });

  it('says where a level has no row at all', () => {
    expect(missingText([{ path: 'token.logprob', rows: 0, of: 0 }])).toBe(
      'token.logprob is missing: no token was logged',
    );
  });
});

describe('the catalogue', () => {
  it('is searched by id, and says what there is', () => {
    expect(findEstimator('gae')).toBe(gae);
    expect(() => findEstimator('gea')).toThrow(/no estimator gea; there are grpo, rloo/);
    expect(() => findEstimator('grppo')).toThrow(/^no estimator grppo: was grpo meant\?$/);
  });

  it.each(ESTIMATORS)('describes every param of $id, with its default', (estimator) => {
    const { properties } = paramsSchema(estimator) as { properties: Record<string, object> };
    for (const [name, property] of Object.entries(properties)) {
      expect(Object.keys(property), name).toEqual(expect.arrayContaining(['description', 'default']));
    }
    expect(estimator.params.safeParse({}).data).toEqual(
      Object.fromEntries(Object.entries(properties).map(([name, { default: value }]: [string, { default?: unknown }]) => [name, value])), // prettier-ignore
    );
  });
});
