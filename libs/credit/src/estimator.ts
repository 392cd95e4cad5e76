import type { Level, SignalPath, TrajectoryBatch } from '#lib/dataset';
import type { z } from 'zod';
import type { SignalKinds, ValuesOf } from './signal-kinds.js';

/** Texts, which a batch holds as keys: an estimator that requires one reads `stateKey` or `actionKey`. */
export type KeyPath = 'turn.state' | 'turn.action';

/** One value per row of its level. NaN or null: nothing is said about this row. */
export interface Column {
  readonly level: Level | 'group' | 'shard';
  readonly values: Float64Array | readonly (string | null)[];
  /** [rows + 1] where a row holds a list: `values[offsets[row] .. offsets[row + 1] - 1]` */
  readonly offsets?: Int32Array;
  /** true: the values are labels, and say no more than which rows belong together */
  readonly partition?: true;
  /** true, at level group: a choice among the groups, shown as the list of those that say something */
  readonly selection?: true;
}

/** Numbers of things that have a name and no row. */
export type Keyed = Readonly<Record<string, number>>;

export interface Credit {
  readonly level: Level;
  /** [rows of level] the numbers that the estimator gives */
  readonly values: Float64Array;
  /** what the values were made of, so that a reader can see why: group mean, state value, shaped reward */
  readonly explain?: Readonly<Record<string, Column>>;
  /** what a reader of the values should know about this batch */
  readonly warnings?: readonly string[];
  /** rows on which the method says nothing (NaN), and why. Any other NaN is an overflow */
  readonly silent?: { readonly rows: number; readonly why: string };
}

/** What the formula needs beyond its `requires` and `accepts` when its params say so. */
export interface ConditionalNeeds<Params, Required extends SignalPath, Accepted extends SignalPath> {
  readonly when: Partial<Params>;
  /** only the rows on which, or on whose turn or trajectory, a text signal says this must have what is required */
  readonly where?: { readonly signal: Required; readonly is: string };
  /** rows on which this flag is 1 need not have what is required: a truncated trajectory has no outcome */
  readonly unless?: SignalPath;
  readonly requires?: readonly Required[];
  readonly accepts?: readonly Accepted[];
  /** true: reads the texts behind the keys, so the batch must be loaded with them */
  readonly texts?: true;
}

/** How much of the formula stands in the authors' code or text; docs/estimators says what exactly. */
export type VerificationStatus = 'verified' | 'second-hand' | 'reconstructed' | 'own';

/** What the numbers of an estimator are. Only advantages can be laid side by side as they are. */
export type Gives =
  /** what an update multiplies the log-probability with */
  | 'advantage'
  /** what is still to come: no baseline, so where all rewards are positive so is all credit */
  | 'return'
  /** a reward that replaces the recorded one; an estimator of advantages comes after it */
  | 'reward'
  /** how much a row counts in the update, whatever its advantage */
  | 'weight'
  /** what an update makes small: where nothing is clipped or added, minus the advantage */
  | 'loss'
  /** a number of another kind, which the estimator's page explains: a chance, a rank */
  | 'score'
  /** 1: takes part in the update, 0: is left out */
  | 'keep';

/** A param whose value is the name of a signal, which is then required. */
export interface SignalParam<Param extends string> {
  readonly param: Param;
  readonly level: Level;
}

/**
 * A named way to assign credit: a pure function from trajectories and params to one number per row of a level.
 * `columns` holds what the params at hand require, whole, and of what they accept that which the batch has.
 */
export interface Estimator<
  Params extends z.ZodObject = z.ZodObject,
  Required extends SignalPath = SignalPath,
  Accepted extends SignalPath = SignalPath,
  Kinds extends SignalKinds = SignalKinds,
> {
  /** kebab-case and for ever */
  readonly id: string;
  /** raised when the same input gives other numbers: stored results are keyed by it */
  readonly version: number;
  readonly title: string;
  /** `work`: authors, title and place of what has neither an arXiv number nor public code */
  readonly citation: { readonly paper?: string; readonly code?: string; readonly work?: string };
  readonly status: VerificationStatus;
  readonly gives: Gives;
  /** more than one where a param decides */
  readonly levels: readonly Level[];
  /** 'tensor': learns, on a device of libs/tensor, and `estimate` cannot be called; none: the processor, at once */
  readonly device?: 'tensor';
  /** true: compares inside a group, so credit in a group of one deserves a warning */
  readonly groupRelative: boolean;
  readonly requires: readonly Required[];
  readonly accepts: readonly Accepted[];
  /** of what is required: null on some rows (asked for and not available) is an answer. The signal must be recorded */
  readonly sparse?: readonly Required[];
  readonly conditional?: readonly ConditionalNeeds<z.infer<Params>, Required, Accepted>[];
  readonly signalParams?: readonly SignalParam<keyof z.infer<Params> & string>[];
  /** what the signals are that are no numbers: 'text', or the schema of a JSON value */
  readonly kinds?: Kinds;
  /** true: reads the texts behind the keys, whatever the params */
  readonly texts?: true;
  readonly params: Params;
  estimate(trajectories: TrajectoryBatch, columns: Columns<Required, Accepted, Kinds>, params: z.infer<Params>): Credit;
  /**
   * Where the method keeps something over training steps, or speaks of things that have no row: columns of that, over the
   * steps at hand, ascending, in place of those of the same name. An analysis has one step at a time and asks `estimate` alone.
   * Its params are those of `estimate`.
   */
  overall?(steps: readonly TrajectoryBatch[], params: never): Readonly<Record<string, number | Keyed>>;
}

/** The signals that an estimator is given: all that it requires, and of what it accepts that which is there. */
export type Columns<Required extends SignalPath, Accepted extends SignalPath, Kinds extends SignalKinds> = Readonly<
  { [Path in Exclude<Required, KeyPath>]: ValuesOf<Kinds, Path> } & { [Path in Accepted]?: ValuesOf<Kinds, Path> }
>;

/** Any member of the catalogue, its types forgotten; `runEstimator` gives it what they promised. */
export interface AnyEstimator extends Omit<Estimator, 'estimate'> {
  /** of a user's own estimator: what its file's sha256 begins with; stands where others have a version */
  readonly hash?: string;
  estimate(trajectories: TrajectoryBatch, columns: never, params: never): Credit;
}

/** Defines an estimator: types `columns` from what it requires and accepts, and `params` from their schema. */
export function defineEstimator<
  const Params extends z.ZodObject,
  const Required extends SignalPath = never,
  const Accepted extends SignalPath = never,
  const Kinds extends SignalKinds = Record<never, never>, // oxlint-disable-line typescript/no-generated-empty-object-type -- no kinds
>(estimator: Estimator<Params, Required, Accepted, Kinds>): Estimator<Params, Required, Accepted, Kinds> {
  return estimator;
}
