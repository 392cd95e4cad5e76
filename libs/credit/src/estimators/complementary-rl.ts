import { numbers, type NumericValues, type TrajectoryBatch } from '#lib/dataset';
import { allEqual, pairLabels, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { signalValues, type TextValues } from '../signal-kinds.js';

const Normalization = z.enum(['mean', 'meanStd', 'asymClip', 'identity']);
type Normalization = z.infer<typeof Normalization>;

const ComplementaryRlParams = z.strictObject({
  normalization: Normalization.default('mean').describe(
    'of the outcomes inside the guided and the unguided part of a group',
  ),
  extractorNormalization: Normalization.default('mean').describe(
    'of the scores of the experiences that are trained on',
  ),
  repeatControl: z.boolean().default(true).describe('give 0 to an experience that was trained on too lately'),
  repeatWeightPower: z.number().nonnegative().default(0.5).describe('how fast the weight falls with each training'),
  cooldownSteps: z.int().min(0).default(1).describe('training steps before an experience is trained on again'),
  bufferSize: z.int().min(1).default(64).describe('experiences that the buffer holds'),
  trainingBatchSize: z.int().min(1).default(64).describe('experiences that are trained on at once'),
  trainingStep: z
    .int()
    .min(0)
    .nullable()
    .default(null)
    .describe('the step at which the extractor is trained; null: the last one at hand'),
  experienceUsage: z
    .record(z.string(), z.strictObject({ trainCount: z.int().min(0), lastTrainedStep: z.int().min(-1).default(-1) }))
    .default({})
    .describe('how often and when (-1: never) each experience was trained on before'),
});
type ComplementaryRlParams = z.infer<typeof ComplementaryRlParams>;

const EPSILON = 1e-6;
const CLIP = [-1, 3] as const;

/**
 * The scores of one set of rows, by one of the reference's ways.
 *
 *     mean      x − mean
 *     meanStd   (x − mean) / (std + 1e-6), ddof = 1; all 0 where the spread is at most 1e-6, or there is one row
 *     asymClip  that, clipped to [−1, 3]
 *     identity  x
 *
 * @param segmentOf [rows]
 */
export function normalized(
  values: NumericValues,
  segmentOf: Int32Array,
  segmentCount: number,
  how: Normalization,
): Float64Array {
  if (how === 'identity') return Float64Array.from(values);
  const { mean, std } = segmentMoments(values, null, segmentOf, segmentCount);
  return Float64Array.from(values, (value, row) => {
    const segment = segmentOf[row];
    const spread = std[segment];
    const centre = spread === 0 ? 0 : value - mean[segment];
    if (how === 'mean') return centre;
    const score = spread <= EPSILON ? 0 : centre / (spread + EPSILON);
    return how === 'meanStd' ? score : Math.min(CLIP[1], Math.max(CLIP[0], score));
  });
}

/** Sums of one experience over the trajectories that were shown it; those of several training steps add up. */
interface Tally {
  uses: number;
  /** an outcome of exactly 0 counts as −1 */
  scoreSum: number;
  outcomeSum: number;
  /** of the unguided mean of each trajectory's group; 0 where it has none */
  unguidedSum: number;
}

/** What each experience of one training step did, in the order of first use. */
function tallies(outcome: NumericValues, experience: TextValues, { groupOf, groupCount }: TrajectoryBatch) {
  const unguided = Int32Array.from(groupOf, (group, i) => (experience[i] === null ? group : -1));
  const baseline = segmentMoments(outcome, null, unguided, groupCount).mean;
  const byExperience = new Map<string, Tally>();
  experience.forEach((name, i) => {
    if (name === null) return;
    const tally = byExperience.get(name) ?? { uses: 0, scoreSum: 0, outcomeSum: 0, unguidedSum: 0 };
    byExperience.set(name, tally);
    const base = baseline[groupOf[i]];
    tally.uses++;
    tally.scoreSum += outcome[i] === 0 ? -1 : outcome[i];
    tally.outcomeSum += outcome[i];
    tally.unguidedSum += Number.isNaN(base) ? 0 : base;
  });
  return byExperience;
}

type Tallies = ReadonlyMap<string, Tally>;
type ByExperience = Readonly<Record<string, number>>;

interface ExtractorCredit {
  readonly extractorReady: number;
  readonly experienceScore: ByExperience;
  readonly experienceWeight: ByExperience;
  readonly experienceCredit: ByExperience;
  readonly experienceSign: ByExperience;
}

/**
 * What the extractor is rewarded with for each experience, after some training steps.
 *
 *     buffer: per experience Σ score and uses; a new one that finds it full drives out the oldest (by its first use)
 *     score[e]  = Σ score / uses                 of the first min(trainingBatchSize, buffer) entries
 *     weight[e] = 0 in the cooldown, else (1 + trainCount)^−power
 *     credit[e] = normalized(score)[e] · weight[e]
 *     sign[e]   = sign(mean outcome of its trajectories − mean of their groups' unguided means)      of every experience used
 *
 * `extractorReady` is 1 where the buffer holds a whole training batch; the reference waits until then.
 *
 * @param steps tallies of the training steps, ascending
 * @param trainingStep at which the extractor is trained
 */
export function extractorCredit(
  steps: readonly Tallies[],
  trainingStep: number,
  params: Omit<ComplementaryRlParams, 'trainingStep' | 'normalization'>,
): ExtractorCredit {
  const buffer = new Map<string, Pick<Tally, 'uses' | 'scoreSum'>>();
  const all = new Map<string, Tally>();
  for (const step of steps) {
    for (const [name, { uses, scoreSum, outcomeSum, unguidedSum }] of step) {
      const sums = all.get(name) ?? { uses: 0, scoreSum: 0, outcomeSum: 0, unguidedSum: 0 };
      all.set(name, sums);
      sums.uses += uses;
      sums.outcomeSum += outcomeSum;
      sums.unguidedSum += unguidedSum;
      const entry = buffer.get(name) ?? { uses: 0, scoreSum: 0 };
      if (!buffer.has(name) && buffer.size >= params.bufferSize) buffer.delete(oldestOf(buffer));
      buffer.set(name, { uses: entry.uses + uses, scoreSum: entry.scoreSum + scoreSum });
    }
  }
  const trained = [...buffer].slice(0, params.trainingBatchSize);
  const names = trained.map(([name]) => name);
  const score = Float64Array.from(trained, ([, { uses, scoreSum }]) => scoreSum / uses);
  const weight = Float64Array.from(names, (name) => usageWeight(name, trainingStep, params));
  const centre = normalized(score, new Int32Array(score.length), 1, params.extractorNormalization);
  const byName = (values: Float64Array) => Object.fromEntries(names.map((name, k) => [name, values[k]]));
  return {
    extractorReady: buffer.size >= params.trainingBatchSize ? 1 : 0,
    experienceScore: byName(score),
    experienceWeight: byName(weight),
    experienceCredit: byName(centre.map((value, k) => value * weight[k])),
    experienceSign: Object.fromEntries(Array.from(all, ([name, sums]) => [name, signOf(sums)])),
  };
}

const oldestOf = (buffer: ReadonlyMap<string, unknown>) => buffer.keys().next().value!;

function usageWeight(
  name: string,
  trainingStep: number,
  {
    experienceUsage,
    repeatControl,
    cooldownSteps,
    repeatWeightPower,
  }: Pick<ComplementaryRlParams, 'experienceUsage' | 'repeatControl' | 'cooldownSteps' | 'repeatWeightPower'>,
): number {
  const usage = Object.hasOwn(experienceUsage, name) ? experienceUsage[name] : { trainCount: 0, lastTrainedStep: -1 };
  const { trainCount, lastTrainedStep } = usage;
  const isCooling = repeatControl && lastTrainedStep >= 0 && trainingStep - lastTrainedStep < cooldownSteps;
  return isCooling ? 0 : (1 + trainCount) ** -repeatWeightPower;
}

/** Equal up to rounding is equal. */
function signOf({ uses, outcomeSum, unguidedSum }: Tally): number {
  const [guided, unguided] = [outcomeSum / uses, unguidedSum / uses];
  return allEqual(Math.min(guided, unguided), Math.max(guided, unguided)) ? 0 : Math.sign(guided - unguided);
}

/**
 * Complementary RL. The actor: a trajectory is judged against those of its group that were guided as it was, or not; the
 * extractor: an experience is judged by the outcomes of the trajectories that were shown it.
 *
 *     A[i] = normalized(R) inside (group, guided or not)
 *     credit of experiences: extractorCredit
 */
export const complementaryRl = defineEstimator({
  id: 'complementary-rl',
  version: 1,
  title: 'Guided and unguided trajectories, and credit for experiences (Complementary RL)',
  citation: {
    paper: 'arXiv:2603.17621',
    code: 'pUmpKin-Co/ComplementaryRL:roll/pipeline/agentic/multi_agentic_pipeline.py@ab2574f',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward'],
  accepts: ['trajectory.experienceId'],
  kinds: { 'trajectory.experienceId': 'text' },
  params: ComplementaryRlParams,
  estimate(trajectories, columns, params) {
    const { groupOf, trainingStep } = trajectories;
    const outcome = columns['trajectory.outcomeReward'];
    const experience = columns['trajectory.experienceId'] ?? Array.from(groupOf, () => null);
    const guided = Int32Array.from(experience, (name) => (name === null ? 0 : 1));
    const cells = pairLabels(groupOf, guided);
    const level = 'trajectory';

    const step = params.trainingStep ?? trainingStep[0] ?? 0;
    const { extractorReady, ...credit } = extractorCredit([tallies(outcome, experience, trajectories)], step, params);
    const ofTrajectory = (values: ByExperience) => ({
      level,
      values: Float64Array.from(experience, (name) => (name !== null && Object.hasOwn(values, name) ? values[name] : NaN)),
    } as const); // prettier-ignore
    return {
      level,
      values: normalized(outcome, cells.labels, cells.count, params.normalization),
      explain: {
        extractorReady: { level: 'shard', values: Float64Array.of(extractorReady) },
        experienceScore: ofTrajectory(credit.experienceScore),
        experienceWeight: ofTrajectory(credit.experienceWeight),
        experienceCredit: ofTrajectory(credit.experienceCredit),
        experienceSign: ofTrajectory(credit.experienceSign),
      },
    };
  },
  overall(steps, params: ComplementaryRlParams) {
    const each = steps.map((trajectories) => {
      const none = Array.from(trajectories.ids, () => null);
      const outcome = numbers(trajectories, 'trajectory.outcomeReward') ?? new Float64Array(0);
      const experience = signalValues(trajectories, 'trajectory.experienceId', 'text') as TextValues | null;
      return tallies(outcome, experience ?? none, trajectories);
    });
    const last = steps.at(-1)?.trainingStep[0] ?? 0;
    return { ...extractorCredit(each, params.trainingStep ?? last, params) };
  },
});
