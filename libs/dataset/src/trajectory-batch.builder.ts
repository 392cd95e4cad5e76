import {
  MAX_SIGNAL_NAMES,
  textKey,
  tokenCount,
  tokenNumbers,
  type TokenColumn,
  type TrajectoryRecord,
  type Turn,
} from '#lib/protocol';
import type { Level, SignalColumn, SignalPath, TrajectoryBatch } from './trajectory-batch.js';

const MAX_CELLS = 2 ** 24;
const SURE_COLUMNS = 64;

/**
 * Puts records into columns, in the order given.
 *
 * A signal that is a number or a flag on every row that has it becomes numbers; one that is text on every such row
 * becomes text; anything else stays JSON. Of a level no more than
 * `mostColumns` names become columns, the first ones to appear; the log keeps the others. Token numbers are kept as float32, the rest as float64.
 *
 * @param exactTokens true: JSON numbers of tokens stay float64, where a formula is checked and not a recording
 */
export function trajectoryBatch(
  records: readonly TrajectoryRecord[],
  { exactTokens = false }: { readonly exactTokens?: boolean } = {},
): TrajectoryBatch {
  const turns = records.flatMap((record) => record.turns);
  const turnOffsets = offsets(records.map((record) => record.turns.length));
  const tokenOffsets = offsets(turns.map(tokensOf));
  const rowOf = new Map(records.map((record, row) => [record.id, row]));
  const groupKeys = intern(records.map(({ trainingStep, group }) => `${trainingStep}\n${group}`));
  const states = intern(turns.map(({ state }) => (state == null ? null : textKey(state))));
  const actions = intern(turns.map(({ action }) => (action == null ? null : textKey(action))));

  return {
    ids: records.map((record) => record.id),
    groups: groupKeys.values.map((key) => key.slice(key.indexOf('\n') + 1)),
    groupOf: groupKeys.keys,
    groupCount: groupKeys.values.length,
    trainingStep: Int32Array.from(records, (record) => record.trainingStep),
    parentOf: Int32Array.from(records, ({ parent }) => (parent ? (rowOf.get(parent.trajectory) ?? -1) : -1)),
    parentTurn: Int32Array.from(records, ({ parent }) => parent?.turn ?? -1),
    turnOffsets,
    tokenOffsets,
    stateKey: states.keys,
    actionKey: actions.keys,
    columns: new Map([
      ...columnsOf('trajectory', records, ({ outcomeReward, success, signals }) => ({
        ...signals,
        outcomeReward,
        success,
      })),
      ...columnsOf('turn', turns, ({ reward, signals }) => ({ ...signals, reward })),
      ...tokenColumns(turns, tokenOffsets, exactTokens),
    ]),
    texts: { states: states.values, actions: actions.values },
  };
}

function offsets(lengths: readonly number[]): Int32Array {
  const result = new Int32Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) result[i + 1] = result[i] + lengths[i];
  return result;
}

function tokensOf({ tokens }: Turn): number {
  const first = tokens && Object.values(tokens)[0];
  return first ? tokenCount(first) : 0;
}

/** A key per text, from 0 in order of first appearance; -1 for null. */
function intern(texts: readonly (string | null)[]): { keys: Int32Array; values: string[] } {
  const keyOf = new Map<string, number>();
  const keys = Int32Array.from(texts, (text) => {
    if (text === null) return -1;
    const key = keyOf.get(text) ?? keyOf.size;
    keyOf.set(text, key);
    return key;
  });
  return { keys, values: [...keyOf.keys()] };
}

function columnsOf<Row>(
  level: Level,
  rows: readonly Row[],
  signalsOf: (row: Row) => Readonly<Record<string, unknown>>,
): [SignalPath, SignalColumn][] {
  const raw = new Map<string, unknown[]>();
  const most = mostColumns(rows.length);
  rows.forEach((row, i) => {
    for (const [name, value] of Object.entries(signalsOf(row))) {
      if (value === undefined) continue;
      if (raw.size >= most && !raw.has(name)) continue;
      const values = raw.get(name) ?? new Array<unknown>(rows.length).fill(null);
      raw.set(name, values);
      values[i] = value;
    }
  });
  return [...raw].map(([name, values]) => [`${level}.${name}`, columnOf(values)]);
}

/**
 * A name that one row has takes a place on every row, so an event of a few megabytes could ask for terabytes: many names
 * are for few rows. More than anyone records, and less than breaks a worker.
 */
function mostColumns(rows: number): number {
  return Math.min(MAX_SIGNAL_NAMES, Math.max(SURE_COLUMNS, Math.floor(MAX_CELLS / rows)));
}

function columnOf(values: readonly unknown[]): SignalColumn {
  const every = (...types: string[]) => values.every((value) => value === null || types.includes(typeof value));
  if (every('number', 'boolean')) {
    return { kind: 'number', values: Float64Array.from(values, (value) => (value === null ? NaN : Number(value))) };
  }
  if (every('string')) return { kind: 'text', values: values as (string | null)[] };
  return { kind: 'json', values };
}

function tokenColumns(
  turns: readonly Turn[],
  tokenOffsets: Int32Array,
  exactTokens: boolean,
): [SignalPath, SignalColumn][] {
  const names = new Set(turns.flatMap(({ tokens }) => (tokens ? Object.keys(tokens) : [])));
  return [...names]
    .slice(0, mostColumns(Math.max(turns.length, tokenOffsets[turns.length])))
    .map((name) => [`token.${name}`, tokenColumn(name, turns, tokenOffsets, exactTokens)]);
}

function tokenColumn(
  name: string,
  turns: readonly Turn[],
  tokenOffsets: Int32Array,
  exactTokens: boolean,
): SignalColumn {
  const count = tokenOffsets[turns.length];
  const values = exactTokens ? new Float64Array(count) : new Float32Array(count);
  values.fill(NaN);
  for (let turn = 0; turn < turns.length; turn++) {
    const column = columnNamed(name, turns[turn]);
    if (!column) continue;
    const numbers = tokenNumbers(column);
    if (!numbers) return tokenJson(name, turns, tokenOffsets);
    const isExact = exactTokens && Array.isArray(column);
    values.set(isExact ? exactNumbers(column) : numbers, tokenOffsets[turn]);
  }
  return { kind: 'number', values };
}

const exactNumbers = (column: readonly unknown[]) =>
  Float64Array.from(column, (value) => (value === null ? NaN : Number(value)));

/** A column may be called `constructor`, which every object has. */
function columnNamed(name: string, { tokens }: Turn): TokenColumn | undefined {
  return tokens && Object.hasOwn(tokens, name) ? tokens[name] : undefined;
}

/** Texts, lists and vectors per token. A turn that sent numbers under the same name keeps them as they are. */
function tokenJson(name: string, turns: readonly Turn[], tokenOffsets: Int32Array): SignalColumn {
  const values = new Array<unknown>(tokenOffsets[turns.length]).fill(null);
  turns.forEach((fields, turn) => {
    const column = columnNamed(name, fields);
    if (!column) return;
    const entries: Iterable<unknown> = Array.isArray(column) ? column : tokenNumbers(column)!;
    let at = tokenOffsets[turn];
    for (const entry of entries) values[at++] = entry;
  });
  const isText = values.every((value) => value === null || typeof value === 'string');
  return isText ? { kind: 'text', values } : { kind: 'json', values };
}
