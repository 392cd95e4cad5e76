import { laterColumn, levelOf, type Level, type SignalColumn, type TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import { DataType } from 'apache-arrow';
import { keyedTextColumn, numberColumn, type ArrowColumn } from './arrow-columns.js';
import { orDamaged } from './arrow-file.js';
import { freeName, nameOf } from './field-names.js';
import { internTexts } from './intern-texts.js';
import { numbersOf, textsOf, type ReadColumn, type ReadColumns } from './read-columns.js';

/** Field metadata: `json` where the texts are JSON values. */
const KIND = 'recredit.kind';

/** The signals of a level as Arrow columns, sorted by name. */
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
  const { name: free, metadata } = freeName(name, used);
  if (column.kind === 'number') return numberColumn(free, column.values, metadata);
  if (column.kind === 'json') metadata.set(KIND, 'json');
  const { keys, texts } = internTexts(column.kind === 'text' ? column.values : column.values.map(jsonText));
  return keyedTextColumn(free, keys, texts, nextId(), metadata);
}

const jsonText = (value: unknown) => (value === null ? null : JSON.stringify(value));

/**
 * The signals among the columns of a level, those named in `taken` aside. Texts are decoded when they are asked for.
 *
 * @param areRead false: their values were left in the file, and asking for them is a mistake
 */
export function signalsAmong(
  columns: ReadColumns,
  taken: ReadonlySet<string>,
  areRead: boolean,
): [string, SignalColumn][] {
  return [...columns.values()]
    .filter(({ field }) => !taken.has(field.name))
    .map((column) => [nameOf(column), areRead ? signalOf(column) : unread(column)]);
}

function kindOf({ field }: ReadColumn): SignalColumn['kind'] {
  if (field.metadata.get(KIND) === 'json') return 'json';
  return DataType.isDictionary(field.type) ? 'text' : 'number';
}

function signalOf(column: ReadColumn): SignalColumn {
  const kind = kindOf(column);
  if (kind === 'number') return { kind, values: numbersOf(column) };
  const texts = () => orDamaged('segment', () => textsOf(column));
  if (kind === 'text') return laterColumn(kind, texts);
  return laterColumn(kind, () => texts().map((text) => (text === null ? null : (JSON.parse(text) as unknown))));
}

function unread(column: ReadColumn): SignalColumn {
  return laterColumn(kindOf(column), () => {
    throw new RecreditError('internal.error', `the tokens' ${nameOf(column)} is asked for and was not read`);
  });
}
