import { laterColumn } from './later-column.js';
import {
  levelOf,
  rowCount,
  type NumericValues,
  type SignalColumn,
  type SignalPath,
  type Texts,
  type TrajectoryBatch,
} from './trajectory-batch.js';

/**
 * The trajectories of several batches under each other. The batches number states and actions alike, and `texts` are
 * what those numbers mean. Groups of one name and training step become one; a signal that a batch lacks is not said there.
 */
export function concatTrajectories(batches: readonly TrajectoryBatch[], texts: Texts | null): TrajectoryBatch {
  const firstRow = starts(batches.map((batch) => batch.ids.length));
  const ints = (select: (batch: TrajectoryBatch) => Int32Array) => joinInts(batches.map(select));
  return {
    ids: batches.flatMap((batch) => batch.ids),
    ...joinGroups(batches),
    trainingStep: ints((batch) => batch.trainingStep),
    parentOf: joinInts(batches.map(({ parentOf }, b) => parentOf.map((row) => (row < 0 ? -1 : row + firstRow[b])))),
    parentTurn: ints((batch) => batch.parentTurn),
    turnOffsets: joinOffsets(batches.map((batch) => batch.turnOffsets)),
    tokenOffsets: joinOffsets(batches.map((batch) => batch.tokenOffsets)),
    stateKey: ints((batch) => batch.stateKey),
    actionKey: ints((batch) => batch.actionKey),
    columns: new Map(pathsOf(batches).map((path) => [path, joinColumns(batches, path)])),
    texts,
  };
}

function pathsOf(batches: readonly TrajectoryBatch[]): SignalPath[] {
  return [...new Set(batches.flatMap((batch) => [...batch.columns.keys()]))].sort();
}

function starts(lengths: readonly number[]): number[] {
  let start = 0;
  return lengths.map((length) => (start += length) - length);
}

function joinInts(parts: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function joinOffsets(parts: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(parts.reduce((length, part) => length + part.length - 1, 1));
  let at = 0;
  for (const part of parts) {
    const base = joined[at];
    for (let i = 1; i < part.length; i++) joined[++at] = base + part[i];
  }
  return joined;
}

/** A group is keyed by (trainingStep, name), so the same name in another training step is another group. */
function joinGroups(batches: readonly TrajectoryBatch[]) {
  const numberOf = new Map<string, number>();
  const groups: string[] = [];
  const parts = batches.map((batch) =>
    batch.groupOf.map((group, row) => {
      const name = batch.groups[group];
      const key = `${batch.trainingStep[row]}/${name}`;
      const number = numberOf.get(key) ?? groups.push(name) - 1;
      numberOf.set(key, number);
      return number;
    }),
  );
  return { groupOf: joinInts(parts), groups, groupCount: groups.length };
}

function joinColumns(batches: readonly TrajectoryBatch[], path: SignalPath): SignalColumn {
  const parts = batches.map((batch) => ({ column: batch.columns.get(path), rows: rowCount(batch, levelOf(path)) }));
  const said = parts.flatMap(({ column }) => column ?? []);
  if (said.every((column) => column.kind === 'number')) return laterColumn('number', () => joinNumbers(parts, said));
  const values = () =>
    parts.flatMap(({ column, rows }) => (column ? jsonValues(column) : new Array<null>(rows).fill(null)));
  if (said.every((column) => column.kind === 'text')) return laterColumn('text', values as () => (string | null)[]);
  return laterColumn('json', values);
}

function joinNumbers(
  parts: readonly { column: SignalColumn | undefined; rows: number }[],
  said: readonly SignalColumn[],
): NumericValues {
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const single = said.every(({ values }) => values instanceof Float32Array);
  const values = (single ? new Float32Array(rows) : new Float64Array(rows)).fill(NaN);
  let at = 0;
  for (const part of parts) {
    if (part.column?.kind === 'number') values.set(part.column.values, at);
    at += part.rows;
  }
  return values;
}

/** The values of any column as JSON values; null: not said. */
export function jsonValues(column: SignalColumn): readonly unknown[] {
  if (column.kind !== 'number') return column.values;
  return Array.from(column.values, (value) => (Number.isNaN(value) ? null : value));
}
