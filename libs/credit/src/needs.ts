import {
  levelOf,
  numbers,
  rowCount,
  type Level,
  type NumericValues,
  type SignalPath,
  type TrajectoryBatch,
} from '#lib/dataset';
import { ownerOf } from '#lib/numeric';
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
  /** the flag that excuses a row from having it */
  readonly unless: { readonly [Path in SignalPath]?: SignalPath };
  /** those that may say nothing on some rows, once they are recorded */
  readonly sparse: readonly SignalPath[];
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
  const named = namedSignals(estimator, params);
  const requires = [...estimator.requires, ...applying.flatMap((more) => more.requires ?? []), ...named];
  const accepts = [...estimator.accepts, ...applying.flatMap((more) => more.accepts ?? [])];
  const kinds = estimator.kinds ?? {};
  const where = Object.fromEntries(
    applying.flatMap((more) => (more.where ? (more.requires ?? []).map((path) => [path, more.where] as const) : [])),
  );
  const unless = Object.fromEntries(
    applying.flatMap((more) => (more.unless ? (more.requires ?? []).map((path) => [path, more.unless] as const) : [])),
  );
  const readsTexts = estimator.texts === true || applying.some(({ texts }) => texts);
  // Signals that are no numbers lie with the texts.
  return {
    requires,
    accepts,
    kinds,
    where,
    unless,
    sparse: estimator.sparse ?? [],
    texts: readsTexts || [...requires, ...accepts].some((path) => path in kinds),
  };
}

/** The signals that its params name; a list names several. */
export function namedSignals(
  { signalParams = [] }: AnyEstimator,
  params: Readonly<Record<string, unknown>>,
): SignalPath[] {
  return signalParams.flatMap(({ param, level }) =>
    [params[param]].flat().map((name): SignalPath => `${level}.${String(name)}`),
  );
}

/**
 * Which required signals are not on every row of their level. A token outside the mask is no row: observation tokens
 * have no value and no reward. A mask itself is on every token that there is: absent means all 1.
 */
export function missingSignals(
  trajectories: TrajectoryBatch,
  needs: Pick<Needs, 'requires'> & Partial<Needs>,
): MissingSignal[] {
  const hasTurns = trajectories.stateKey.length > 0;
  return needs.requires.flatMap((path) => {
    const of = rowCount(trajectories, levelOf(path));
    const rows = countMissing(trajectories, path, of, needs);
    const hasNoLevel = of === 0 && hasTurns;
    return rows > 0 || hasNoLevel ? [{ path, rows, of }] : [];
  });
}

function countMissing(
  trajectories: TrajectoryBatch,
  path: SignalPath,
  of: number,
  { kinds = {}, where: onRows = {}, unless = {}, sparse = [] }: Partial<Needs>,
): number {
  if (path === 'turn.state') return countNegative(trajectories.stateKey);
  if (path === 'turn.action') return countNegative(trajectories.actionKey);
  if (path === 'token.mask') return 0;
  const values = signalValues(trajectories, path, kinds[path]);
  if (values && sparse.includes(path)) return 0;
  const where = onRows[path];
  const excused = unless[path] ? numbers(trajectories, unless[path]) : null;
  const speaks = where && saidOnRows(trajectories, where.signal, levelOf(path));
  if (where && !values) return speaks?.filter((said) => said === where.is).length ?? 0;
  if (!values) return excused ? of - countOnes(excused) : of;
  const mask = levelOf(path) === 'token' ? numbers(trajectories, 'token.mask') : null;
  if (values instanceof Float64Array && !mask && !excused && !where) return countUnsaid(values);
  let missing = 0;
  for (let row = 0; row < of; row++) {
    const isAsked = mask?.[row] !== 0 && excused?.[row] !== 1 && (!where || speaks?.[row] === where.is);
    if (isAsked && isUnsaid(values[row])) missing++;
  }
  return missing;
}

/** A text signal on the rows of its own level, or of the level below that they own. */
function saidOnRows(trajectories: TrajectoryBatch, signal: SignalPath, level: Level): readonly unknown[] | null {
  const said = signalValues(trajectories, signal, 'text') as readonly unknown[] | null;
  if (!said || levelOf(signal) === level) return said;
  const { turnOffsets, tokenOffsets } = trajectories;
  const turns = levelOf(signal) === 'trajectory' ? ownersSay(said, turnOffsets) : said;
  return level === 'turn' ? turns : ownersSay(turns, tokenOffsets);
}

const ownersSay = (said: readonly unknown[], offsets: Int32Array) => Array.from(ownerOf(offsets), (row) => said[row]);

const isUnsaid = (value: unknown) => value === null || Number.isNaN(value);

function countUnsaid(values: Float64Array): number {
  let count = 0;
  for (let row = 0; row < values.length; row++) if (Number.isNaN(values[row])) count++;
  return count;
}

function countOnes(flags: NumericValues): number {
  let count = 0;
  for (const flag of flags) if (flag === 1) count++;
  return count;
}

function countNegative(keys: Int32Array): number {
  let count = 0;
  for (let row = 0; row < keys.length; row++) if (keys[row] < 0) count++;
  return count;
}

const WHOLE = new Intl.NumberFormat('en-US');

/** The sentence that says what is missing: `turn.reward is missing on 3 of 12 turns`. */
export function missingText(missing: readonly MissingSignal[]): string {
  return missing.map(missingOf).join('; ');
}

function missingOf({ path, rows, of }: MissingSignal): string {
  if (of === 0) return `${path} is missing: no ${levelOf(path)} was logged`;
  return `${path} is missing on ${WHOLE.format(rows)} of ${WHOLE.format(of)} ${rowsOf(path, of)}`;
}

function rowsOf(path: SignalPath, count: number): string {
  const level = levelOf(path);
  if (count === 1) return level;
  return level === 'trajectory' ? 'trajectories' : `${level}s`;
}
