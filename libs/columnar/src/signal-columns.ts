import { levelOf, type Level, type SignalColumn, type TrajectoryBatch } from '#lib/dataset';
import { keyedTextColumn, numberColumn, type ArrowColumn } from './arrow-columns.js';
import { numbersOf, textsOf, type ReadColumn, type ReadColumns } from './read-columns.js';

/** Field metadata: the name of the signal, as JSON, where the column had to be called otherwise. */
const SIGNAL = 'recredit.signal';
/** Field metadata: `json` where the texts are JSON values. */
const KIND = 'recredit.kind';

/**
 * The signals of a level as Arrow columns, sorted by name. A signal whose name is taken, or is no well-formed text, is
 * called otherwise and keeps its name in the metadata of the field.
 */
export function signalColumns(
  trajectories: TrajectoryBatch,
  level: Level,
  kinds: 'numbers' | 'texts',
  taken: ReadonlySet<string>,
  nextId: () => number,
): ArrowColumn[] {
  const used = new Set(taken);
  return [...trajectories.columns]
    .filter(([path, { kind }]) => levelOf(path) === level && (kind === 'number') === (kinds === 'numbers'))
    .map(([path, column]) => ({ name: path.slice(level.length + 1), column }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, column }) => signalColumn(name, column, used, nextId));
}

function signalColumn(name: string, column: SignalColumn, used: Set<string>, nextId: () => number): ArrowColumn {
  const free = freeName(name, used);
  const metadata = new Map<string, string>();
  if (free !== name) metadata.set(SIGNAL, JSON.stringify(name));
  if (column.kind === 'number') return numberColumn(free, column.values, metadata);
  if (column.kind === 'json') metadata.set(KIND, 'json');
  const { keys, texts } = internTexts(column);
  return keyedTextColumn(free, keys, texts, nextId(), metadata);
}

function freeName(name: string, used: Set<string>): string {
  let free = name.toWellFormed();
  while (used.has(free)) free += '_';
  used.add(free);
  return free;
}

function internTexts(column: Exclude<SignalColumn, { kind: 'number' }>) {
  const keyOf = new Map<string, number>();
  const keys = Int32Array.from(column.values, (value) => {
    if (value === null) return -1;
    const text = column.kind === 'text' ? (value as string) : JSON.stringify(value);
    const key = keyOf.get(text) ?? keyOf.size;
    keyOf.set(text, key);
    return key;
  });
  return { keys, texts: [...keyOf.keys()] };
}

/** The signals among the columns of a level, those named in `taken` aside. */
export function signalsAmong(columns: ReadColumns, taken: ReadonlySet<string>): [string, SignalColumn][] {
  return [...columns.values()]
    .filter(({ field }) => !taken.has(field.name))
    .map((column) => [nameOf(column), signalOf(column)]);
}

function nameOf({ field }: ReadColumn): string {
  const name = field.metadata.get(SIGNAL);
  return name === undefined ? field.name : (JSON.parse(name) as string);
}

function signalOf(column: ReadColumn): SignalColumn {
  const { field } = column;
  if (field.metadata.get(KIND) === 'json') {
    const values = textsOf(column).map((text) => (text === null ? null : (JSON.parse(text) as unknown)));
    return { kind: 'json', values };
  }
  if (field.type.toString().startsWith('Dictionary')) return { kind: 'text', values: textsOf(column) };
  return { kind: 'number', values: numbersOf(column) };
}
