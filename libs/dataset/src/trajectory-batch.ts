/** Where a signal lives. */
export type Level = 'trajectory' | 'turn' | 'token';

/** The address of a signal: its level and its name, `turn.valueEstimate`. */
export type SignalPath = `${Level}.${string}`;

/** Numbers and flags (1 and 0). NaN: not said. */
export type NumericValues = Float64Array | Float32Array;

/** One signal, one value per row of its level. Numbers are by far the common case; null in the others: not said. */
export type SignalColumn =
  | { readonly kind: 'number'; readonly values: NumericValues }
  | { readonly kind: 'text'; readonly values: readonly (string | null)[] }
  | { readonly kind: 'json'; readonly values: readonly unknown[] };

/** The texts behind `stateKey` and `actionKey`: `states[key]`. Loaded only for what reads text. */
export interface Texts {
  readonly states: readonly string[];
  readonly actions: readonly string[];
}

/**
 * Trajectories in columns: what an estimator sees. Turns of trajectory i are the rows
 * `turnOffsets[i] .. turnOffsets[i + 1] - 1`, tokens of turn t the rows `tokenOffsets[t] .. tokenOffsets[t + 1] - 1`.
 * The typed arrays may view the buffers of a segment: nobody writes to them.
 */
export interface TrajectoryBatch {
  /** [trajectories] */
  readonly ids: readonly string[];
  /** [groups] the trainer's name of the group; a group is keyed by (trainingStep, name), never by the prompt */
  readonly groups: readonly string[];
  /** [trajectories] index into `groups` */
  readonly groupOf: Int32Array;
  readonly groupCount: number;
  /** [trajectories] */
  readonly trainingStep: Int32Array;
  /** [trajectories] row of the trajectory this one branches off; -1: none, or not in this batch */
  readonly parentOf: Int32Array;
  /** [trajectories] last turn shared with the parent; -1: only the prompt */
  readonly parentTurn: Int32Array;
  /** [trajectories + 1] */
  readonly turnOffsets: Int32Array;
  /** [turns + 1] */
  readonly tokenOffsets: Int32Array;
  /** [turns] equal texts have equal keys inside the batch; -1: no state was said */
  readonly stateKey: Int32Array;
  /** [trajectories] the key of the state after the last turn, where an analysis chose which states are the same; -1: not said */
  readonly finalKey?: Int32Array;
  /** [turns] as stateKey, of the action */
  readonly actionKey: Int32Array;
  /** protocol fields that are numbers (`trajectory.outcomeReward`, `trajectory.success`, `turn.reward`) and signals */
  readonly columns: ReadonlyMap<SignalPath, SignalColumn>;
  /** null: not loaded */
  readonly texts: Texts | null;
}

/** Number of rows of a level. */
export function rowCount(trajectories: TrajectoryBatch, level: Level): number {
  if (level === 'trajectory') return trajectories.ids.length;
  if (level === 'turn') return trajectories.stateKey.length;
  return trajectories.tokenOffsets[trajectories.stateKey.length];
}

/** The level a path speaks of. */
export function levelOf(path: SignalPath): Level {
  return path.slice(0, path.indexOf('.')) as Level;
}

/** The numbers of a signal, or null where the batch has none of that name. */
export function numbers(trajectories: TrajectoryBatch, path: SignalPath): NumericValues | null {
  const column = trajectories.columns.get(path);
  return column?.kind === 'number' ? column.values : null;
}
