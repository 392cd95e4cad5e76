import { trajectoryBatch, type Level, type TrajectoryBatch } from '#lib/dataset';
import type { AnyEstimator, Column, Credit, Keyed } from './estimator.js';
import { missingSignals, needsOf, type MissingSignal } from './needs.js';
import { nest, type Nested } from './nest.js';
import { parseParams, runEstimator, type Outcome } from './run-estimator.js';
import { AS_RECORDED, identifyStates, statesOf, type IdentifiedStates, type StateIdentity } from './state-identity.js';
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
  const prepared = prepare(estimator, records, rawParams, identity, exactTokens);
  if (prepared.kind === 'missing') return prepared;
  const { batches, params, states } = prepared;
  return joined(
    estimator,
    prepared,
    batches.map((recorded) => runEstimator(estimator, identifyStates(recorded, states), params)),
  );
}

/** How an estimator is run, and states are identified, where that is not done at once. */
export interface LaterEstimation {
  readonly identify: (trajectories: TrajectoryBatch, identity: StateIdentity) => Promise<IdentifiedStates>;
  readonly run: (
    estimator: AnyEstimator,
    trajectories: TrajectoryBatch,
    params: Readonly<Record<string, unknown>>,
  ) => Outcome | Promise<Outcome>;
}

/** As `estimate`, for what is answered later. */
export async function estimateLater(
  estimator: AnyEstimator,
  records: TrajectoryRecords,
  rawParams: unknown,
  estimation: LaterEstimation,
  identity: StateIdentity = AS_RECORDED,
): Promise<Estimate | NoEstimate> {
  const prepared = prepare(estimator, records, rawParams, identity, false);
  if (prepared.kind === 'missing') return prepared;
  const { batches, params, states } = prepared;
  const outcomes: Outcome[] = [];
  for (const recorded of batches) outcomes.push(await runLater(estimation, estimator, recorded, params, states));
  return joined(estimator, prepared, outcomes);
}

/** Identifies the states, runs the estimator on them, and says of both what computed them and what it warns of. */
export async function runLater(
  { identify, run }: LaterEstimation,
  estimator: AnyEstimator,
  recorded: TrajectoryBatch,
  params: Readonly<Record<string, unknown>>,
  identity: StateIdentity,
): Promise<Outcome> {
  const { trajectories, device, warnings } = await identify(recorded, identity);
  const outcome = await run(estimator, trajectories, params);
  if (outcome.kind === 'missing') return outcome;
  return { ...(device !== undefined && { device }), ...outcome, warnings: [...warnings, ...outcome.warnings] };
}

interface Prepared {
  readonly kind: 'prepared';
  readonly answer: Answer;
  readonly params: Readonly<Record<string, unknown>>;
  readonly whole: TrajectoryBatch;
  /** rows of the whole, a list per training step */
  readonly steps: readonly number[][];
  /** of each step, as recorded */
  readonly batches: readonly TrajectoryBatch[];
  /** which states the estimator is to see as the same */
  readonly states: StateIdentity;
}

function prepare(
  estimator: AnyEstimator,
  records: TrajectoryRecords,
  rawParams: unknown,
  identity: StateIdentity,
  exactTokens: boolean,
): Prepared | NoEstimate {
  const params = parseParams(estimator, rawParams);
  const { id, version, hash } = estimator;
  const answer = { estimator: id, version, ...(hash && { hash }), params, ...statesOf(estimator, identity) };
  const whole = trajectoryBatch(records, { exactTokens });
  const missing = missingSignals(whole, needsOf(estimator, params));
  if (missing.length > 0) return { ...answer, kind: 'missing', missing };
  const steps = rowsByStep(whole);
  const batches = steps.map((rows) =>
    trajectoryBatch(
      rows.map((row) => records[row]),
      { exactTokens },
    ),
  );
  return { kind: 'prepared', answer, params, whole, steps, batches, states: answer.states ?? AS_RECORDED };
}

function joined(
  estimator: AnyEstimator,
  { answer, params, whole, steps, batches }: Prepared,
  outcomes: readonly Outcome[],
): Estimate {
  const parts = outcomes.map((outcome, step) => partOf(batches[step], outcome));
  const { columns, ...rest } = joinSteps(parts, steps, whole);
  return { ...answer, kind: 'credit', ...rest, columns: { ...columns, ...overallOf(estimator, parts, params) } };
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

function partOf(trajectories: TrajectoryBatch, outcome: Outcome): Part {
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
