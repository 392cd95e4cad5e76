import { numbers, type NumericValues, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineDiagnostic, MAX_EVIDENCE } from '../diagnostic.js';
import { wilson } from '../intervals.js';
import { agreeing, count, counted, figure } from '../sentences.js';

/** The returns of one training step. */
export interface StepReturns {
  readonly trainingStep: number;
  readonly n: number;
  readonly sum: number;
  /** Σ (R − mean)² */
  readonly squares: number;
  /** every return is 0 or 1 */
  readonly isBinary: boolean;
  /** distinct returns and how often each came; null: too many to keep */
  readonly counts: readonly (readonly [value: number, count: number])[] | null;
}

export interface FloorOptions {
  /** share of the baseline that may be lost */
  readonly alpha: number;
  readonly baselineReturn: number;
  /** of the one-sided interval */
  readonly z: number;
  /** episodes below which a step proves nothing */
  readonly minimumEpisodes: number;
}

const KEPT_RETURNS = 64;

/** The returns of every training step of a batch, ascending; a trajectory without an outcome is no episode. */
export function returnsByStep(trajectories: TrajectoryBatch): StepReturns[] {
  const { trainingStep } = trajectories;
  const reward = numbers(trajectories, 'trajectory.outcomeReward');
  if (!reward) return [];
  const steps = new Set<number>();
  for (let row = 0; row < reward.length; row++) {
    if (row === 0 || trainingStep[row] !== trainingStep[row - 1]) steps.add(trainingStep[row]);
  }
  return [...steps]
    .sort((a, b) => a - b)
    .map((step) => returnsOf(step, reward, trainingStep))
    .filter(({ n }) => n > 0);
}

function returnsOf(step: number, reward: NumericValues, stepOf: Int32Array): StepReturns {
  let n = 0;
  let sum = 0;
  let squares = 0;
  let zeros = 0;
  let ones = 0;
  const others = new Map<number, number>();
  for (let row = 0; row < reward.length; row++) {
    const value = reward[row];
    if (stepOf[row] !== step || Number.isNaN(value)) continue;
    n++;
    sum += value;
    if (value === 0) zeros++;
    else if (value === 1) ones++;
    else if (others.size <= KEPT_RETURNS) others.set(value, (others.get(value) ?? 0) + 1);
  }
  const mean = sum / n;
  for (let row = 0; row < reward.length; row++) {
    if (stepOf[row] === step && !Number.isNaN(reward[row])) squares += (reward[row] - mean) ** 2;
  }
  const counts = [[0, zeros] as const, [1, ones] as const, ...others].filter(([, count]) => count > 0);
  return {
    trainingStep: step,
    n,
    sum,
    squares,
    isBinary: others.size === 0,
    counts: counts.length <= KEPT_RETURNS ? counts.sort(([a], [b]) => a - b) : null,
  };
}

/**
 * Whether the policy stays above what is promised while it learns.
 *
 *     floor = (1 − alpha) · baselineReturn
 *     interval   Wilson for returns of 0 and 1, else mean ± z · sample std / sqrt(n)
 *     certified  lower ≥ floor        violated  upper < floor        else unproven, as with fewer than minimumEpisodes
 *     cumulativeMargin = Σ n (mean − floor)      episodesBelow: returns below the floor
 *
 * The promise is about the expected value of a policy, not about each return. RECONSTRUCTED after StepMix
 * (arXiv:2306.06265, abstract).
 */
export function conservativeFloor(
  steps: readonly StepReturns[],
  { alpha, baselineReturn, z, minimumEpisodes }: FloorOptions,
) {
  const floor = (1 - alpha) * baselineReturn;
  let margin = 0;
  const judged = steps.map(({ trainingStep, n, sum, squares, isBinary, counts }) => {
    const average = sum / n;
    const half = n > 1 ? (z * Math.sqrt(squares / (n - 1))) / Math.sqrt(n) : Infinity;
    const [lower, upper] = isBinary ? wilson(sum, n, z) : [average - half, average + half];
    margin += n * (average - floor);
    return {
      trainingStep,
      n,
      mean: average,
      lower: Number.isFinite(lower) ? lower : null,
      upper: Number.isFinite(upper) ? upper : null,
      interval: isBinary ? ('wilson' as const) : ('normal' as const),
      status: n < minimumEpisodes ? ('unproven' as const) : statusOf(lower, upper, floor),
      cumulativeMargin: margin,
      episodesBelow: counts?.reduce((below, [value, count]) => below + (value < floor ? count : 0), 0) ?? null,
    };
  });
  return {
    floor,
    steps: judged,
    violatedSteps: judged.filter(({ status }) => status === 'violated').map(({ trainingStep }) => trainingStep),
  };
}

function statusOf(lower: number, upper: number, floor: number): 'certified' | 'violated' | 'unproven' {
  if (lower >= floor) return 'certified';
  return upper < floor ? 'violated' : 'unproven';
}

/** First training steps whose mean is the baseline where none is said. */
const BASELINE_STEPS = 5;

export const conservativeFloorDiagnostic = defineDiagnostic({
  id: 'conservative-floor',
  version: 1,
  title: 'The floor while learning',
  question: 'Did the policy ever fall below the baseline it must not lose?',
  remedy:
    'Go back to the last certified checkpoint, mix in the baseline policy (StepMix), or make the updates smaller.',
  headline: 'cumulativeMargin',
  level: 'trainingStep',
  status: 'reconstructed',
  source: 'after StepMix, arXiv:2306.06265 (abstract)',
  requires: ['trajectory.outcomeReward'],
  accepts: [],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    alpha: z.number().min(0).max(1).default(0.1).describe('share of the baseline that may be lost'),
    baselineReturn: z
      .number()
      .nullable()
      .default(null)
      .describe('of the policy to hold on to; null: the mean of the first five training steps'),
    z: z.number().positive().default(1.6448536269514722).describe('of the interval: 1.645 is 95 % to one side'),
    minimumEpisodes: z.int().min(1).default(5).describe('trajectories below which a step proves nothing'),
  }),

  measure: ({ trajectories }) => returnsByStep(trajectories)[0] ?? null,

  read(steps, { baselineReturn, ...options }) {
    const returns = steps.map(({ figures }) => figures);
    const first = returns.slice(0, BASELINE_STEPS);
    const baseline =
      baselineReturn ?? first.reduce((sum, step) => sum + step.sum, 0) / first.reduce((n, step) => n + step.n, 0);
    const found = conservativeFloor(returns, { ...options, baselineReturn: baseline });
    const last = found.steps.at(-1)!;
    const share = (status: string) => found.steps.filter((step) => step.status === status).length / found.steps.length;
    const of = baselineReturn === null ? 'of the first training steps' : 'that was set';
    return {
      values: {
        cumulativeMargin: last.cumulativeMargin,
        floor: found.floor,
        baselineReturn: baseline,
        meanReturn: last.mean,
        certifiedShare: share('certified'),
        violatedShare: share('violated'),
        violatedSteps: found.violatedSteps.length,
      },
      reasons: {},
      sentence: `the floor is ${figure(found.floor)}, from the baseline ${of}: ${count(found.violatedSteps.length)} of ${counted(found.steps.length, 'training step')} ${agreeing(found.violatedSteps.length, found.steps.length, 'is', 'are')} surely below it; the last one is at ${figure(last.mean)}`,
      steps: found.steps.map(({ trainingStep, n, status, mean, lower, upper, cumulativeMargin, episodesBelow }) => ({
        trainingStep,
        values: {
          mean,
          lower,
          upper,
          violated: Number(status === 'violated'),
          certified: Number(status === 'certified'),
          cumulativeMargin,
          episodesBelow,
        },
        observations: n,
      })),
      evidence: found.steps
        .filter(({ status }) => status === 'violated')
        .slice(0, MAX_EVIDENCE)
        .map(({ trainingStep, mean, upper }) => ({
          trainingStep,
          note: `mean return ${figure(mean)}, at most ${figure(upper!)}`,
        })),
    };
  },

  rules: () => [
    {
      id: 'below-floor',
      level: 'critical',
      all: [{ value: 'violated', op: '>=', limit: 1 }],
      minimum: 5,
      hold: { of: 1 },
      says: 'the mean return is surely below the floor',
    },
  ],
});
