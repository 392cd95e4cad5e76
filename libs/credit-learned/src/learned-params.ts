import { z } from 'zod';

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

/** Params of every network that is trained here. */
export const NETWORK_PARAMS = {
  hiddenUnits: z.int().min(0).max(512).default(32).describe('units of the hidden layer; 0: a linear model'),
  epochs: z.int().min(1).max(1000).default(100).describe('passes over the training folds, at most'),
  patience: z.int().min(1).default(8).describe('passes without a better loss on the validation fold before it stops'),
  batchSize: z.int().min(1).max(4096).default(16).describe('trajectories of a step of the training'),
  learningRate: z.number().positive().default(0.003).describe("Adam's step size"),
  weightDecay: z.number().nonnegative().default(0.01).describe('decoupled decay of the weights, times the step size'),
} as const;

/** The same of a network whose outputs add up: a step moves the outputs of all turns of a trajectory at once. */
export const SUM_NETWORK_PARAMS = {
  ...NETWORK_PARAMS,
  learningRate: z.number().positive().default(0.001).describe("Adam's step size"),
} as const;

type ParamsOf<Shape extends Readonly<Record<string, z.ZodType>>> = {
  readonly [Name in keyof Shape]: z.infer<Shape[Name]>;
};
export type FoldParams = ParamsOf<typeof FOLD_PARAMS>;
export type NetworkParams = ParamsOf<typeof NETWORK_PARAMS>;
