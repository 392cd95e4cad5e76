import { DataType } from 'apache-arrow';
import type { Column, Credit } from '#lib/credit';
import type { Level } from '#lib/dataset';
import { openArrowFile, orDamaged } from './arrow-file.js';
import { CREDIT_FORMAT, OWN_CREDIT_COLUMNS, PARTITION, REPEATED } from './credit-layout.js';
import { nameOf } from './field-names.js';
import { gatherRows } from './gather-rows.js';
import {
  columnNamed,
  columnsOf,
  doublesOf,
  intsOf,
  listOf,
  numbersOf,
  textsOf,
  valueListOf,
  type ReadColumn,
  type ReadColumns,
} from './read-columns.js';

/** A credit file in memory; its numbers view the bytes it was opened from. */
export interface CreditFile {
  readonly estimator: string;
  readonly version: number;
  readonly params: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
  readonly credit: Credit;
  /** [trajectories] ids, in the order of the shard */
  readonly trajectories: readonly string[];
  /** row of a trajectory by its id */
  readonly rowOf: ReadonlyMap<string, number>;
  /** [trajectories] index of its group, in order of first appearance */
  readonly groupOf: Int32Array;
  /** [trajectories + 1] */
  readonly turnOffsets: Int32Array;
  /** [turns + 1]; null where nothing is said about tokens */
  readonly tokenOffsets: Int32Array | null;
  /** [tokens] 0 for tokens that training leaves out; null where the trainer sent no mask */
  readonly mask: Float64Array | Float32Array | null;
}

const NO_COLUMNS: ReadColumns = new Map();

/**
 * Opens a file of `encodeCredit`.
 *
 * @throws RecreditError `segment.damaged`
 */
export function openCredit(bytes: Uint8Array): CreditFile {
  const { root, metadata } = openArrowFile(CREDIT_FORMAT, bytes);
  return orDamaged('credit file', () => {
    const trajectory = columnsOf(root);
    const turns = listOf(columnNamed(trajectory, 'turns'));
    const tokenColumn = turns.columns.get('tokens');
    const tokens = tokenColumn && listOf(tokenColumn);
    const levels = { trajectory, turn: turns.columns, token: tokens?.columns ?? NO_COLUMNS };
    const level = metadata.get('recredit.creditLevel') as Level;
    const trajectories = textsOf(columnNamed(trajectory, 'trajectory')) as string[];
    const groupOf = intsOf(columnNamed(trajectory, 'groupKey'), [0, Math.max(trajectories.length, 1)]);
    const mask = levels.token.get('mask');
    return {
      estimator: metadata.get('recredit.estimator') ?? '',
      version: Number(metadata.get('recredit.version')),
      params: JSON.parse(metadata.get('recredit.params') ?? '{}') as Record<string, unknown>,
      warnings: JSON.parse(metadata.get('recredit.warnings') ?? '[]') as string[],
      credit: {
        level,
        values: doublesOf(columnNamed(levels[level] ?? NO_COLUMNS, 'credit')),
        explain: explainOf(levels, groupOf),
      },
      trajectories,
      rowOf: new Map(trajectories.map((id, row) => [id, row])),
      groupOf,
      turnOffsets: turns.offsets,
      tokenOffsets: tokens?.offsets ?? null,
      mask: mask ? numbersOf(mask) : null,
    };
  });
}

function explainOf(levels: Record<Level, ReadColumns>, groupOf: Int32Array): Record<string, Column> {
  const at = (level: Level) =>
    [...levels[level].values()]
      .filter(({ field }) => !OWN_CREDIT_COLUMNS[level].has(field.name))
      .map((column) => [nameOf(column), explainColumn(column, level, groupOf)] as const);
  return Object.fromEntries([...at('trajectory'), ...at('turn'), ...at('token')]);
}

function explainColumn(column: ReadColumn, level: Level, groupOf: Int32Array): Column {
  const { metadata, type } = column.field;
  const list = DataType.isList(type) ? valueListOf(column) : null;
  const values = explainValues(list?.item ?? column);
  const partition = metadata.get(PARTITION) === 'true' ? { partition: true as const } : {};
  const asWritten = { values, ...(list && { offsets: list.offsets }), ...partition };
  const repeated = metadata.get(REPEATED);
  if (repeated !== 'group' && repeated !== 'shard') return { level, ...asWritten };
  return { level: repeated, ...gatherRows(asWritten, firstRows(repeated, groupOf)), ...partition };
}

function explainValues(column: ReadColumn): Column['values'] {
  return DataType.isDictionary(column.data.type) ? textsOf(column) : doublesOf(column);
}

/** The first row of each group, or of the shard. */
function firstRows(level: 'group' | 'shard', groupOf: Int32Array): Int32Array {
  if (level === 'shard') return new Int32Array(Math.min(groupOf.length, 1));
  const rows: number[] = [];
  groupOf.forEach((group, row) => (rows[group] ??= row));
  return Int32Array.from(rows);
}
