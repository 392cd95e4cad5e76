import type { Columns, Credit, Estimator, SignalKinds } from '#lib/credit';
import type { SignalPath, TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import type { Device } from '#lib/tensor';
import { z } from 'zod';

/** An estimator that learns, on a device, from the trajectories it gives credit to. */
export interface LearnedEstimator<
  Params extends z.ZodObject = z.ZodObject,
  Required extends SignalPath = SignalPath,
  Accepted extends SignalPath = SignalPath,
  Kinds extends SignalKinds = SignalKinds,
> extends Estimator<Params, Required, Accepted, Kinds> {
  readonly device: 'tensor';
  /** Credit for every turn by a model that did not see its group. */
  learn(
    device: Device,
    trajectories: TrajectoryBatch,
    columns: Columns<Required, Accepted, Kinds>,
    params: z.infer<Params>,
  ): Promise<Credit>;
}

/** Any member of the catalogue of learned estimators, its types forgotten. */
export interface AnyLearnedEstimator extends Omit<LearnedEstimator, 'estimate' | 'learn'> {
  estimate(trajectories: TrajectoryBatch, columns: never, params: never): Credit;
  learn(device: Device, trajectories: TrajectoryBatch, columns: never, params: never): Promise<Credit>;
}

type Definition<
  Params extends z.ZodObject,
  Required extends SignalPath,
  Accepted extends SignalPath,
  Kinds extends SignalKinds,
> = Omit<LearnedEstimator<Params, Required, Accepted, Kinds>, 'estimate' | 'device'>;

/** Defines a learned estimator: a member of the catalogue like any other, except that `Learner` runs it. */
export function defineLearned<
  const Params extends z.ZodObject,
  const Required extends SignalPath = never,
  const Accepted extends SignalPath = never,
  const Kinds extends SignalKinds = Record<never, never>, // oxlint-disable-line typescript/no-generated-empty-object-type -- no kinds
>(definition: Definition<Params, Required, Accepted, Kinds>): LearnedEstimator<Params, Required, Accepted, Kinds> {
  return {
    ...definition,
    device: 'tensor',
    estimate: () => {
      throw new RecreditError('internal.error', `${definition.id} learns on a device, and answers later`);
    },
  };
}

/** Params of every network that is trained here. */
export const NETWORK_PARAMS = {
  hiddenUnits: z.int().min(0).max(512).default(32).describe('units of the hidden layer; 0: a linear model'),
  epochs: z.int().min(1).max(1000).default(100).describe('passes over the training folds, at most'),
  patience: z.int().min(1).default(8).describe('passes without a better loss on the validation fold before it stops'),
  batchSize: z.int().min(1).max(4096).default(16).describe('trajectories of a step of the training'),
  learningRate: z.number().positive().default(0.003).describe("Adam's step size"),
  weightDecay: z.number().nonnegative().default(0.01).describe('decoupled decay of the weights, times the step size'),
} as const;

/** Params of everything that is learned here. */
export const FOLD_PARAMS = {
  folds: z
    .int()
    .min(3)
    .max(20)
    .default(5)
    .describe('parts that the trajectories are split into; none is scored by a model that saw it'),
  foldsBy: z
    .enum(['group', 'trajectory'])
    .default('group')
    .describe(
      "what is never split: a group, or a trajectory with its branches, so that its siblings are learned from ('trajectory')",
    ),
  seed: z.int().min(0).default(0).describe('of the folds, the projection of texts and the training'),
  minTrajectories: z
    .int()
    .min(3)
    .default(32)
    .describe('a training step with fewer has no credit: too little to learn from'),
} as const;

/** The same of a network whose outputs add up: a step moves the outputs of all turns of a trajectory at once. */
export const SUM_NETWORK_PARAMS = {
  ...NETWORK_PARAMS,
  learningRate: z.number().positive().default(0.001).describe("Adam's step size"),
} as const;
