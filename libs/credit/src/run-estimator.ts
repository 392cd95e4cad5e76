import { levelOf, rowCount, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import { meantInstead, RecreditError } from '#lib/kernel';
import { areFinite } from '#lib/numeric';
import { z } from 'zod';
import type { AnyEstimator, Column, Credit } from './estimator.js';
import { groupsOfOneWithCredit } from './groups-of-one.js';
import { missingSignals, needsOf, type MissingSignal, type Needs } from './needs.js';
import { signalValues, type SignalValues } from './signal-kinds.js';

/** A missing signal is an answer: the analysis records it and carries on with its other estimators. */
export type Outcome =
  | {
      readonly kind: 'credit';
      readonly credit: Credit;
      readonly warnings: readonly string[];
      /** what computed it; none: the processor, in float64 */
      readonly device?: string;
    }
  | { readonly kind: 'missing'; readonly missing: readonly MissingSignal[] };

/** Params with their defaults filled in; `params.invalid` for a name or a value that the estimator does not have. */
export function parseParams(estimator: AnyEstimator, rawParams: unknown = {}): Record<string, unknown> {
  const params = estimator.params.safeParse(rawParams);
  if (params.success) return params.data;
  const [issue] = params.error.issues;
  const message =
    issue.code === 'unrecognized_keys' && issue.path.length === 0
      ? noParam(estimator, issue.keys[0])
      : `${estimator.id}: ${z.prettifyError(params.error)}`;
  throw new RecreditError('params.invalid', message, {
    estimator: estimator.id,
    issues: params.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
  });
}

function noParam({ id, params }: AnyEstimator, name: string): string {
  const names = Object.keys(params.shape);
  const otherwise = names.length === 0 ? ': it has none' : undefined;
  return `${id} has no param ${name}${meantInstead(name, names, otherwise)}`;
}

/** The JSON Schema of an estimator's params, each with its description and default. */
export function paramsSchema(estimator: AnyEstimator): Record<string, unknown> {
  return z.toJSONSchema(estimator.params, { io: 'input' });
}

/** The one door: checks what an estimator may take for granted before it, and what a caller may after it. */
export function runEstimator(estimator: AnyEstimator, trajectories: TrajectoryBatch, rawParams: unknown = {}): Outcome {
  const entry = enterEstimator(estimator, trajectories, rawParams);
  if (entry.kind === 'missing') return entry;
  const estimated = estimator.estimate(trajectories, entry.columns as never, entry.params as never);
  return leaveEstimator(estimator, trajectories, estimated);
}

/** The door from outside, for whoever calls an estimator's function otherwise: its params, and the signals it reads. */
export function enterEstimator(estimator: AnyEstimator, trajectories: TrajectoryBatch, rawParams: unknown) {
  const params = parseParams(estimator, rawParams);
  const needs = needsOf(estimator, params);
  if (needs.texts && !trajectories.texts) {
    throw new RecreditError('internal.error', `${estimator.id} reads texts: load the trajectories with them`);
  }
  const missing = missingSignals(trajectories, needs);
  if (missing.length > 0) return { kind: 'missing', missing } as const;
  return { kind: 'entered', params, columns: columnsFor(trajectories, needs) } as const;
}

/** The door from inside: what an estimator gave is whole, and its numbers are finite or said to be none. */
export function leaveEstimator(estimator: AnyEstimator, trajectories: TrajectoryBatch, estimated: Credit): Outcome {
  assertWhole(estimator, trajectories, estimated);
  const credit = withoutInfinities(estimated);
  return { kind: 'credit', credit, warnings: warningsOf(estimator, trajectories, credit) };
}

/** Where no row has it: a mask is all 1, what every row is excused from is said nowhere. */
const unrecorded = (trajectories: TrajectoryBatch, path: SignalPath) =>
  new Float64Array(rowCount(trajectories, levelOf(path))).fill(path === 'token.mask' ? 1 : NaN);

function columnsFor(trajectories: TrajectoryBatch, { requires, accepts, kinds }: Needs) {
  const columns: Partial<Record<SignalPath, SignalValues>> = {};
  for (const path of accepts) {
    const values = signalValues(trajectories, path, kinds[path]);
    if (values) columns[path] = values;
  }
  for (const path of requires) {
    columns[path] =
      signalValues(trajectories, path, kinds[path]) ?? (kinds[path] ? [] : unrecorded(trajectories, path));
  }
  return columns;
}

function warningsOf(estimator: AnyEstimator, trajectories: TrajectoryBatch, credit: Credit): string[] {
  const warnings = [...(credit.warnings ?? []), ...unsaidRows(credit)];
  if (!estimator.groupRelative) return warnings;
  const alone = groupsOfOneWithCredit(trajectories, credit);
  if (alone > 0)
    warnings.push(`groups of one trajectory that still got credit: ${alone} of ${trajectories.groupCount}`);
  return warnings;
}

/**
 * Rewards near the end of the doubles (1e308) have sums and squares beyond it. Nothing can be said of such a row: NaN,
 * and the reader is warned.
 */
function withoutInfinities(credit: Credit): Credit {
  const { values, explain } = credit;
  const finite = Object.entries(explain ?? {}).map(([name, column]) => {
    const { values } = column;
    return [name, values instanceof Float64Array ? { ...column, values: finiteOrUnsaid(values) } : column] as const;
  });
  return { ...credit, values: finiteOrUnsaid(values), ...(explain && { explain: Object.fromEntries(finite) }) };
}

/** @returns the same array where it holds no infinity */
function finiteOrUnsaid(values: Float64Array): Float64Array {
  if (areFinite(values)) return values;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === Infinity || value === -Infinity) return values.map((any) => (Number.isFinite(any) ? any : NaN));
  }
  return values;
}

/** A number that is none, where the estimator did not mean to be silent, has overflowed: every signal read is said. */
function unsaidRows({ level, values, silent }: Credit): string[] {
  let overflowed = -(silent?.rows ?? 0);
  if (!areFinite(values)) for (let i = 0; i < values.length; i++) if (Number.isNaN(values[i])) overflowed++;
  const text = (rows: number, why: string) =>
    rows > 0
      ? [`no credit on ${rows} of ${values.length} ${level} ${values.length === 1 ? 'row' : 'rows'}: ${why}`]
      : [];
  return [...text(silent?.rows ?? 0, silent?.why ?? ''), ...text(overflowed, 'the numbers it is made of overflow')];
}

/** Our own bug if it throws: the credit is not of the size or level it says. */
function assertWhole(estimator: AnyEstimator, trajectories: TrajectoryBatch, credit: Credit): void {
  const blame = (what: string) => new RecreditError('internal.error', `${estimator.id}: ${what}`);
  if (!estimator.levels.includes(credit.level)) throw blame(`has no level ${credit.level}`);
  const columns: [string, Column][] = [['credit', credit], ...Object.entries(credit.explain ?? {})];
  for (const [name, { level, values, offsets }] of columns) {
    const rows = rowsOf(trajectories, level);
    const found = offsets ? offsets.length - 1 : values.length;
    if (found !== rows) throw blame(`${name} has ${found} rows, ${level} has ${rows}`);
  }
}

function rowsOf(trajectories: TrajectoryBatch, level: Column['level']): number {
  if (level === 'shard') return 1;
  return level === 'group' ? trajectories.groupCount : rowCount(trajectories, level);
}
