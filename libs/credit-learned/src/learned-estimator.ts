import type { Column, ConditionalNeeds, Credit, Estimator } from '#lib/credit';
import type { SignalPath, TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import type { Device } from '#lib/tensor';
import type { z } from 'zod';
import { EMBEDDING_KINDS, type Embeddings } from './embeddings.js';
import { foldsOf, tooLittle, type Fold } from './folds.js';
import { heldOutColumns, heldOutWarnings, type HeldOut } from './held-out.js';
import type { FOLD_PARAMS } from './learned-params.js';
import { turnFeatures, type TurnFeatures } from './turn-features.js';

/** An estimator that learns, on a device, from the trajectories it gives credit to; its types forgotten. */
export interface LearnedEstimator extends Omit<Estimator, 'estimate'> {
  readonly device: 'tensor';
  estimate(trajectories: TrajectoryBatch, columns: never, params: never): Credit;
  /** Credit for every turn by a model that did not see its group (or, as its params say, its trajectory). */
  learn(device: Device, trajectories: TrajectoryBatch, columns: never, params: never): Promise<Credit>;
}

/** What a model is trained with, of one training step. */
export interface Lesson<Given> {
  readonly device: Device;
  readonly trajectories: TrajectoryBatch;
  /** the signals that the definition requires */
  readonly columns: Given;
  /** what the model sees of turns */
  readonly features: TurnFeatures;
  readonly folds: readonly Fold[];
  /** [trajectories] or [turns] what is learned: `target` of the definition */
  readonly target: Float64Array;
}

/** Credit per turn, and how far to rely on it. */
export interface Learned {
  /** [turns] */
  readonly values: Float64Array;
  readonly explain: Readonly<Record<string, Column>>;
  readonly heldOut: HeldOut;
}

type LearnedParams = z.ZodObject<typeof FOLD_PARAMS>;
/** Whatever is required is a number on every row. */
type Given<Required extends SignalPath> = Readonly<Record<Required, ArrayLike<number>>>;

/** What one learned estimator says of itself alone. */
interface Definition<Params extends LearnedParams, Required extends SignalPath> extends Pick<
  Estimator,
  'id' | 'version' | 'title' | 'citation' | 'gives'
> {
  /** beside the texts of turns */
  readonly requires?: readonly Required[];
  readonly conditional?: readonly ConditionalNeeds<z.infer<Params>, Required, never>[];
  readonly params: Params;
  /** What is learned. @returns [trajectories] or [turns] */
  readonly target: (trajectories: TrajectoryBatch, columns: Given<Required>, params: z.infer<Params>) => Float64Array;
  readonly learn: (lesson: Lesson<Given<Required>>, params: z.infer<Params>) => Promise<Learned>;
}

/**
 * Defines a learned estimator: a member of the catalogue like any other, except that `Learner` runs it. Whatever it learns, it
 * reads the texts of turns, or the embeddings that the trainer logged of states; says nothing where there is too little to
 * learn from; and shows how its model did on what it had not seen.
 */
export function defineLearned<const Params extends LearnedParams, const Required extends SignalPath = never>({
  requires = [],
  target: targetOf,
  learn,
  ...rest
}: Definition<Params, Required>): LearnedEstimator {
  return {
    ...rest,
    status: 'own',
    device: 'tensor',
    levels: ['turn'],
    groupRelative: false,
    requires: ['turn.state', 'turn.action', ...requires],
    accepts: ['turn.embedding'],
    kinds: EMBEDDING_KINDS,
    texts: true,
    estimate: () => {
      throw new RecreditError('internal.error', `${rest.id} learns on a device, and answers later`);
    },
    async learn(
      device: Device,
      trajectories: TrajectoryBatch,
      columns: Given<Required> & { readonly 'turn.embedding'?: Embeddings },
      params: z.infer<Params>,
    ): Promise<Credit> {
      const target = targetOf(trajectories, columns, params);
      const why = tooLittle(trajectories, target, params);
      if (why) return nothing(trajectories.stateKey.length, why);
      const folds = foldsOf(trajectories, params);
      const features = await turnFeatures(device, trajectories, columns['turn.embedding'], params.seed);
      const { values, explain, heldOut } = await learn(
        { device, trajectories, columns, features, folds, target },
        params,
      );
      return {
        level: 'turn',
        values,
        explain: { ...explain, ...heldOutColumns(heldOut) },
        warnings: heldOutWarnings(heldOut),
      };
    },
  };
}

/** Credit that says nothing on any turn, and why. */
function nothing(turns: number, why: string): Credit {
  return { level: 'turn', values: new Float64Array(turns).fill(NaN), silent: { rows: turns, why } };
}
