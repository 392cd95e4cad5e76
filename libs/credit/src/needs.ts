import { numbers, rowCount, levelOf, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import type { AnyEstimator } from './estimator.js';

export interface Needs {
  readonly requires: readonly SignalPath[];
  readonly accepts: readonly SignalPath[];
  /** the batch must be loaded with its texts */
  readonly texts: boolean;
}

/** A required signal that rows lack. `rows` of `of`: how many; 0 of 0 where the level itself has no row. */
export interface MissingSignal {
  readonly path: SignalPath;
  readonly rows: number;
  readonly of: number;
}

/** What an estimator reads with these params. */
export function needsOf(estimator: AnyEstimator, params: Readonly<Record<string, unknown>>): Needs {
  const applying = (estimator.conditional ?? []).filter(({ when }) =>
    Object.entries(when).every(([name, value]) => params[name] === value),
  );
  const named = (estimator.signalParams ?? []).map(
    ({ param, level }): SignalPath => `${level}.${String(params[param])}`,
  );
  return {
    requires: [...estimator.requires, ...applying.flatMap(({ requires }) => requires ?? []), ...named],
    accepts: [...estimator.accepts, ...applying.flatMap(({ accepts }) => accepts ?? [])],
    texts: applying.some(({ texts }) => texts),
  };
}

/**
 * Which required signals are not on every row of their level. A token outside the mask is no row: observation tokens
 * have no value and no reward. A mask itself is on every token that there is: absent means all 1.
 */
export function missingSignals(trajectories: TrajectoryBatch, requires: readonly SignalPath[]): MissingSignal[] {
  const hasTurns = trajectories.stateKey.length > 0;
  return requires.flatMap((path) => {
    const of = rowCount(trajectories, levelOf(path));
    const rows = countMissing(trajectories, path, of);
    const hasNoLevel = of === 0 && hasTurns;
    return rows > 0 || hasNoLevel ? [{ path, rows, of }] : [];
  });
}

function countMissing(trajectories: TrajectoryBatch, path: SignalPath, of: number): number {
  if (path === 'turn.state') return countNegative(trajectories.stateKey);
  if (path === 'turn.action') return countNegative(trajectories.actionKey);
  if (path === 'token.mask') return 0;
  const values = numbers(trajectories, path);
  if (!values) return of;
  const mask = levelOf(path) === 'token' ? numbers(trajectories, 'token.mask') : null;
  let missing = 0;
  for (let row = 0; row < of; row++) if (Number.isNaN(values[row]) && mask?.[row] !== 0) missing++;
  return missing;
}

function countNegative(keys: Int32Array): number {
  let count = 0;
  for (const key of keys) if (key < 0) count++;
  return count;
}

/** The sentence that says what is missing: `turn.reward is missing on 3 of 12 turns`. */
export function missingText(missing: readonly MissingSignal[]): string {
  return missing.map(({ path, rows, of }) => `${path} is missing on ${rows} of ${of} ${plural(path)}`).join('; ');
}

function plural(path: SignalPath): string {
  const level = levelOf(path);
  return level === 'trajectory' ? 'trajectories' : `${level}s`;
}
