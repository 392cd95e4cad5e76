import { trajectoryBatch, type Level, type TrajectoryBatch } from '#lib/dataset';
import type { AnyEstimator, Column, Credit, Keyed } from './estimator.js';
import { missingSignals, needsOf, type MissingSignal } from './needs.js';
import { nest, type Nested } from './nest.js';
import { parseParams, runEstimator } from './run-estimator.js';
import { AS_RECORDED, identifyStates, statesOf, type StateIdentity } from './state-identity.js';
import { creditAt } from './turn-credit.js';

/** Trajectories as the protocol, an import file and a test vector have them. */
export type TrajectoryRecords = Parameters<typeof trajectoryBatch>[0];

interface Answer {
  readonly estimator: string;
  readonly version: number;
  /** of a user's own estimator: the version of its file */
  readonly hash?: string;
  /** with the defaults filled in */
  readonly params: Readonly<Record<string, unknown>>;
  /** which states counted as the same, where that matters and is not as they were recorded */
  readonly states?: StateIdentity;
}

/** Credit for trajectories in the order of the input, nested like them. null: nothing is said. */
export interface Estimate extends Answer {
  readonly kind: 'credit';
  readonly level: Level;
  readonly trajectoryAdvantage?: Nested;
  readonly turnAdvantage?: Nested;
  readonly tokenAdvantage?: Nested;
  /** an object: numbers of things that have a name and no row */
  readonly columns: Readonly<Record<string, Nested | Keyed>>;
  /** names of the groups, in the order of columns that have a value per group */
  readonly groups: readonly string[];
  /** columns whose values are labels */
  readonly partitions: readonly string[];
  readonly warnings: readonly string[];
}

export interface NoEstimate extends Answer {
  readonly kind: 'missing';
  readonly missing: readonly MissingSignal[];
}

/**
 * Runs an estimator over records, one batch per training step: no statistic crosses a step. A signal that is missing
 * anywhere is missing.
 *
 * @param identity which states count as the same, for an estimator that reads them
 * @param exactTokens true: numbers of tokens are not rounded to float32 first, as a recording is
 */
export function estimate(
  estimator: AnyEstimator,
  records: TrajectoryRecords,
  rawParams: unknown = {},
  identity: StateIdentity = AS_RECORDED,
  exactTokens = false,
): Estimate | NoEstimate {
  const params = parseParams(estimator, rawParams);
  const { id, version, hash } = estimator;
  const answer = { estimator: id, version, ...(hash && { hash }), params, ...statesOf(estimator, identity) };
  const whole = trajectoryBatch(records, { exactTokens });
  const missing = missingSignals(whole, needsOf(estimator, params));
  if (missing.length > 0) return { ...answer, kind: 'missing', missing };

  const steps = rowsByStep(whole);
  const parts = steps.map((rows) => estimateStep(estimator, records, rows, params, answer.states, exactTokens));
  const { columns, ...joined } = joinSteps(parts, steps, whole);
  return { ...answer, kind: 'credit', ...joined, columns: { ...columns, ...overallOf(estimator, parts, params) } };
}

function overallOf(estimator: AnyEstimator, parts: readonly Part[], params: Readonly<Record<string, unknown>>) {
  const steps = parts.map(({ trajectories }) => trajectories);
  return estimator.overall?.(
    steps.toSorted((a, b) => (a.trainingStep[0] ?? 0) - (b.trainingStep[0] ?? 0)),
    params as never,
  );
}

/** Rows of each training step, steps in order of first appearance. No record at all is one empty step. */
function rowsByStep({ trainingStep }: TrajectoryBatch): number[][] {
  const steps = new Map<number, number[]>();
  trainingStep.forEach((step, row) => {
    const rows = steps.get(step) ?? [];
    steps.set(step, rows);
    rows.push(row);
  });
  return steps.size > 0 ? [...steps.values()] : [[]];
}

interface Part {
  readonly trajectories: TrajectoryBatch;
  readonly credit: Credit;
  readonly columns: ReadonlyMap<string, Column>;
  readonly warnings: readonly string[];
}

function estimateStep(
  estimator: AnyEstimator,
  records: TrajectoryRecords,
  rows: readonly number[],
  params: Readonly<Record<string, unknown>>,
  states: StateIdentity = AS_RECORDED,
  exactTokens = false,
): Part {
  const trajectories = trajectoryBatch(
    rows.map((row) => records[row]),
    { exactTokens },
  );
  const outcome = runEstimator(estimator, identifyStates(trajectories, states), params);
  if (outcome.kind === 'missing') throw new TypeError('estimate: what the whole has, its parts have');
  const { credit, warnings } = outcome;

  const columns = new Map<string, Column>();
  for (const level of ['trajectory', 'turn', 'token'] as const) {
    const values = creditAt(trajectories, credit, level);
    const isEmptyRepeat = level === 'token' && credit.level !== 'token' && !values?.length;
    if (values && !isEmptyRepeat) columns.set(`${level}Advantage`, { level, values });
  }
  for (const [name, column] of Object.entries(credit.explain ?? {})) columns.set(name, column);
  return { trajectories, credit, columns, warnings };
}

function joinSteps(parts: readonly Part[], steps: readonly number[][], whole: TrajectoryBatch) {
  const names = new Set(parts.flatMap(({ columns }) => [...columns.keys()]));
  const nested: Record<string, Nested> = {};
  const partitions: string[] = [];
  for (const name of names) {
    const columns = apart(parts.map((part) => part.columns.get(name) ?? null));
    nested[name] = joinColumn(columns, parts, steps, whole);
    if (columns.some((column) => column?.partition)) partitions.push(name);
  }

  const { trajectoryAdvantage, turnAdvantage, tokenAdvantage, ...columns } = nested;
  const severalSteps = steps.length > 1;
  const warnings = parts.flatMap(({ warnings, trajectories }) =>
    warnings.map((text) => (severalSteps ? `training step ${trajectories.trainingStep[0]}: ${text}` : text)),
  );
  return {
    level: parts[0].credit.level,
    ...(trajectoryAdvantage !== undefined && { trajectoryAdvantage }),
    ...(turnAdvantage !== undefined && { turnAdvantage }),
    ...(tokenAdvantage !== undefined && { tokenAdvantage }),
    columns,
    groups: whole.groups,
    partitions,
    warnings,
  };
}

/** Labels of different steps are different labels. */
function apart(columns: readonly (Column | null)[]): (Column | null)[] {
  let used = 0;
  return columns.map((column) => {
    if (!column?.partition || !(column.values instanceof Float64Array)) return column;
    const shift = used;
    for (const label of column.values) used = Math.max(used, shift + label + 1);
    return { ...column, values: column.values.map((label) => label + shift) };
  });
}

function joinColumn(
  columns: readonly (Column | null)[],
  parts: readonly Part[],
  steps: readonly number[][],
  whole: TrajectoryBatch,
): Nested {
  const level = columns.find((column) => column !== null)?.level;
  if (level === 'shard') {
    const values = columns.map((column, step) => (column ? nest(parts[step].trajectories, column) : null));
    return values.length === 1 ? values[0] : values;
  }
  const joined: Nested[] = new Array<Nested>(level === 'group' ? whole.groupCount : whole.ids.length).fill(null);
  columns.forEach((column, step) => {
    if (!column) return;
    const { trajectories } = parts[step];
    const values = nest(trajectories, column) as readonly Nested[];
    const place = level === 'group' ? groupsOf(trajectories, steps[step], whole) : steps[step];
    values.forEach((value, i) => (joined[place[i]] = value));
  });
  if (columns.some((column) => column?.selection)) return joined.filter((value) => value !== null);
  return joined;
}

/** Where each group of a part stands among the groups of the whole. */
function groupsOf({ groupOf }: TrajectoryBatch, rows: readonly number[], whole: TrajectoryBatch): number[] {
  const place: number[] = [];
  groupOf.forEach((group, i) => (place[group] = whole.groupOf[rows[i]]));
  return place;
}
