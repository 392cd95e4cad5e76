import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { complementaryRl, extractorCredit, normalized } from './complementary-rl.js';

const shown = (experienceId: string | null, outcome: number, trainingStep = 0, group = 'g') => ({
  ...rollout(group, outcome, [{}], trainingStep),
  ...(experienceId && { signals: { experienceId } }),
});
const given = [shown(null, 0), shown(null, 1), shown('e0', 1), shown('e1', 0), shown('e1', 1)];
const usage = { trainingStep: 5, experienceUsage: { e1: { trainCount: 3, lastTrainedStep: 1 } } };

describe('complementary-rl', () => {
  it('judges guided and unguided trajectories apart', () => {
    expectNumbers(creditOf(complementaryRl, given).values, [-0.5, 0.5, 1 / 3, -2 / 3, 1 / 3], 1e-12);
  });

  it('credits experiences by what became of those that were shown them', () => {
    const { columns } = estimateOf(complementaryRl, given, usage);
    expect(columns).toMatchObject({
      extractorReady: 0,
      experienceScore: { e0: 1, e1: 0 },
      experienceWeight: { e0: 1, e1: 0.5 },
      experienceCredit: { e0: 0.5, e1: -0.25 },
      experienceSign: { e0: 1, e1: 0 },
    });
  });

  it('shows an analysis the same by trajectory, of one training step', () => {
    const { explain } = creditOf(complementaryRl, given, usage);
    expectNumbers(explain!.experienceCredit.values, [NaN, NaN, 0.5, -0.25, -0.25], 1e-12);
  });

  it('fills its buffer over the training steps, whatever their order in the file', () => {
    const steps = [shown('e1', 1, 2), shown('e0', 1, 0), shown('e1', 0, 1), shown('e0', 1, 1)];
    const { columns } = estimateOf(complementaryRl, steps, { bufferSize: 1, trainingBatchSize: 1 });
    // e0 came first and stayed through step 1, where e1 came before it: e1 drove it out, it drove e1 out, e1 again
    expect(columns).toMatchObject({ extractorReady: 1, experienceScore: { e1: 1 }, experienceSign: { e0: 1, e1: 1 } });
    expect(Object.keys(columns.experienceScore as object)).toEqual(['e1']);
  });

  it('gives no credit to an experience in its cooldown, unless it does not control repeats', () => {
    const experienceUsage = { e0: { trainCount: 1, lastTrainedStep: 4 } };
    const weightOf = (params: object) =>
      (
        estimateOf(complementaryRl, given, { trainingStep: 5, experienceUsage, ...params }).columns
          .experienceWeight as { e0: number }
      ).e0;
    expect(weightOf({ cooldownSteps: 2 })).toBe(0);
    expect(weightOf({ cooldownSteps: 1 })).toBe(Math.SQRT1_2);
    expect(weightOf({ cooldownSteps: 2, repeatControl: false })).toBe(Math.SQRT1_2);
  });

  it('knows an experience called constructor', () => {
    const { columns } = estimateOf(complementaryRl, [shown('constructor', 1), shown('e', 0)]);
    expect((columns.experienceScore as { constructor: unknown }).constructor).toBe(1);
  });

  it('has the four ways of the reference', () => {
    const scores = (how: 'mean' | 'meanStd' | 'asymClip' | 'identity', ...values: number[]) => [
      ...normalized(Float64Array.from(values), new Int32Array(values.length), 1, how),
    ];
    expectNumbers(scores('mean', 1, 0), [0.5, -0.5]);
    expectNumbers(scores('meanStd', 1, 0), [Math.SQRT1_2, -Math.SQRT1_2], 1e-5);
    expectNumbers(scores('asymClip', 0, 1, 1, 1, 1), [-1, 0.447213, 0.447213, 0.447213, 0.447213], 1e-5);
    expect(scores('identity', 1, 0)).toEqual([1, 0]);
    for (const how of ['mean', 'meanStd', 'asymClip'] as const) {
      expect(scores(how, 3)).toEqual([0]);
      expect(scores(how, 0.3, 0.3, 0.3)).toEqual([0, 0, 0]);
    }
    expect(scores('meanStd', 0, 1e-7)).toEqual([0, 0]);
  });

  it('answers for no step and no experience', () => {
    const none = extractorCredit([], 0, {
      extractorNormalization: 'mean',
      repeatControl: true,
      repeatWeightPower: 0.5,
      cooldownSteps: 1,
      bufferSize: 1,
      trainingBatchSize: 1,
      experienceUsage: {},
    });
    expect(none).toMatchObject({ extractorReady: 0, experienceScore: {}, experienceSign: {} });
  });

  it('does not change with a shift of the outcomes, and sums to 0 in each part', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: -9, max: 9 }), fc.constantFrom('e', null)), { maxLength: 9 }),
        (drawn) => {
          const records = drawn.map(([outcome, experience]) => shown(experience, outcome));
          const moved = records.map((record) => ({ ...record, outcomeReward: (record.outcomeReward as number) + 5 }));
          const values = creditOf(complementaryRl, records).values;
          expectNumbers(creditOf(complementaryRl, moved).values, values, 1e-9);
          expectNumbers([values.reduce((a, b) => a + b, 0)], [0], 1e-9);
        },
      ),
    );
  });
});
