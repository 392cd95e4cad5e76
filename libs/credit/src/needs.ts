import { levelOf, numbers, rowCount, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import type { AnyEstimator } from './estimator.js';
import { signalValues, type SignalKinds } from './signal-kinds.js';

interface Where {
  readonly signal: SignalPath;
  readonly is: string;
}

export interface Needs {
  readonly requires: readonly SignalPath[];
  readonly accepts: readonly SignalPath[];
  /** of those that are no numbers */
  readonly kinds: SignalKinds;
  /** of those that are required on some rows only */
  readonly where: { readonly [Path in SignalPath]?: Where };
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
  const requires = [...estimator.requires, ...applying.flatMap((more) => more.requires ?? []), ...named];
  const accepts = [...estimator.accepts, ...applying.flatMap((more) => more.accepts ?? [])];
  const kinds = estimator.kinds ?? {};
  const where = Object.fromEntries(
    applying.flatMap((more) => (more.where ? (more.requires ?? []).map((path) => [path, more.where] as const) : [])),
  );
  const readsTexts = estimator.texts === true || applying.some(({ texts }) => texts);
  // Signals that are no numbers lie with the texts.
  return {
    requires,
    accepts,
    kinds,
    where,
    texts: readsTexts || [...requires, ...accepts].some((path) => path in kinds),
  };
}

/**
 * Which required signals are not on every row of their level. A token outside the mask is no row: observation tokens
 * have no value and no reward. A mask itself is on every token that there is: absent means all 1.
 */
export function missingSignals(
  trajectories: TrajectoryBatch,
  { requires, kinds, where }: Pick<Needs, 'requires' | 'kinds' | 'where'>,
): MissingSignal[] {
  const hasTurns = trajectories.stateKey.length > 0;
  return requires.flatMap((path) => {
    const of = rowCount(trajectories, levelOf(path));
    const rows = countMissing(trajectories, path, of, kinds, where[path]);
    const hasNoLevel = of === 0 && hasTurns;
    return rows > 0 || hasNoLevel ? [{ path, rows, of }] : [];
  });
}

function countMissing(
  trajectories: TrajectoryBatch,
  path: SignalPath,
  of: number,
  kinds: SignalKinds,
  where?: Where,
): number {
  if (path === 'turn.state') return countNegative(trajectories.stateKey);
  if (path === 'turn.action') return countNegative(trajectories.actionKey);
  if (path === 'token.mask') return 0;
  const values = signalValues(trajectories, path, kinds[path]);
  const speaks = where && signalValues(trajectories, where.signal, 'text');
  if (where && !values) return speaks?.filter((said) => said === where.is).length ?? 0;
  if (!values) return of;
  const mask = levelOf(path) === 'token' ? numbers(trajectories, 'token.mask') : null;
  let missing = 0;
  for (let row = 0; row < of; row++) {
    if (isUnsaid(values[row]) && mask?.[row] !== 0 && (!where || speaks?.[row] === where.is)) missing++;
  }
  return missing;
}

const isUnsaid = (value: unknown) => value === null || Number.isNaN(value);

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
