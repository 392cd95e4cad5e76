import type { Column, Credit, StateIdentity } from '#lib/credit';
import { numberGroups, numbers, type Level, type TrajectoryBatch } from '#lib/dataset';
import { canonicalJson } from '#lib/kernel';
import {
  counter,
  intColumn,
  keyedTextColumn,
  listColumn,
  numberColumn,
  textColumn,
  valueListColumn,
  type ArrowColumn,
} from './arrow-columns.js';
import { writeArrowFile } from './arrow-file.js';
import type { Allocate } from './concat-bytes.js';
import { CREDIT_FORMAT, OWN_CREDIT_COLUMNS, PARTITION, REPEATED } from './credit-layout.js';
import { freeName } from './field-names.js';
import { gatherRows, type Values } from './gather-rows.js';
import { distinctTexts, internTexts } from './intern-texts.js';
import { rankInList } from './rank-in-list.js';

/** What an estimator said about a shard, and all that it depends on but the data. */
export interface CreditToEncode {
  readonly estimator: string;
  readonly version: number;
  /** of a user's own estimator: the version of its file */
  readonly hash?: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** which states counted as the same, where it is not as they were recorded */
  readonly states?: StateIdentity;
  readonly trajectories: TrajectoryBatch;
  readonly credit: Credit;
  readonly warnings: readonly string[];
}

/**
 * The credit of one estimator in one shard as an Arrow IPC file, nested as segments are: one row per trajectory, its turns
 * a list of structs, their tokens likewise where anything is said about tokens. `credit` stands at its level; explain
 * columns stand under their names at theirs, those of a group or the shard repeated on its trajectories.
 *
 * @param allocate where the file is put; memory of its own if not said
 */
export function encodeCredit(file: CreditToEncode, allocate?: Allocate): Uint8Array {
  const { ids, trainingStep, groupOf, groups, turnOffsets, tokenOffsets } = file.trajectories;
  const nextId = counter();
  const group = distinctTexts(groupOf, groups);
  const explained = (level: Level) => explainColumns(file, level, nextId);

  const tokens = [...own(file, 'token'), ...explained('token')];
  const turns = [intColumn('turn', rankInList(turnOffsets)), ...own(file, 'turn'), ...explained('turn')];
  if (tokens.length > 0) turns.push(listColumn('tokens', tokenOffsets, tokens));
  const columns = [
    textColumn('trajectory', ids),
    keyedTextColumn('group', group.keys, group.texts, nextId()),
    intColumn('groupKey', numberGroups(groupOf, groups).groupOf),
    ...own(file, 'trajectory'),
    ...explained('trajectory'),
    listColumn('turns', turnOffsets, turns),
  ];
  return writeArrowFile(CREDIT_FORMAT, columns, ids.length, { metadata: metadataOf(file, trainingStep), allocate });
}

function metadataOf(
  { estimator, version, hash, params, states, credit, warnings }: CreditToEncode,
  trainingStep: Int32Array,
) {
  return new Map([
    ...(hash === undefined ? [] : [['recredit.hash', hash] as const]),
    ['recredit.estimator', estimator],
    ['recredit.version', String(version)],
    ['recredit.params', canonicalJson(params)],
    ...(states === undefined ? [] : [['recredit.states', canonicalJson(states)] as const]),
    ['recredit.creditLevel', credit.level],
    ['recredit.warnings', JSON.stringify(warnings)],
    ...(trainingStep.length > 0 ? ([['recredit.trainingStep', String(trainingStep[0])]] as const) : []),
  ]);
}

function own({ credit, trajectories }: CreditToEncode, level: Level): ArrowColumn[] {
  if (credit.level !== level) return [];
  const mask = level === 'token' ? numbers(trajectories, 'token.mask') : null;
  return [numberColumn('credit', credit.values), ...(mask ? [numberColumn('mask', mask)] : [])];
}

/** The explain columns that stand at a level, sorted by name. */
function explainColumns({ credit, trajectories }: CreditToEncode, level: Level, nextId: () => number): ArrowColumn[] {
  const used = new Set<string>(OWN_CREDIT_COLUMNS[level]);
  return Object.entries(credit.explain ?? {})
    .filter(([, column]) => standsAt(column) === level)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, column]) => {
      const free = freeName(name, used);
      if (column.partition) free.metadata.set(PARTITION, 'true');
      if (column.level === 'group' || column.level === 'shard') free.metadata.set(REPEATED, column.level);
      return explainColumn(free, repeated(column, trajectories.groupOf), nextId);
    });
}

function standsAt({ level }: Column): Level {
  return level === 'group' || level === 'shard' ? 'trajectory' : level;
}

function explainColumn(
  { name, metadata }: { name: string; metadata: Map<string, string> },
  { values, offsets }: Values,
  nextId: () => number,
): ArrowColumn {
  const column =
    values instanceof Float64Array
      ? numberColumn(name, values, metadata)
      : textValues(name, values, nextId(), metadata);
  return offsets ? valueListColumn(column, offsets) : column;
}

function textValues(
  name: string,
  values: readonly (string | null)[],
  id: number,
  metadata: Map<string, string>,
): ArrowColumn {
  const { keys, texts } = internTexts(values);
  return keyedTextColumn(name, keys, texts, id, metadata);
}

/** The column on rows of trajectories, turns or tokens: what a group or the shard says is said of each trajectory. */
function repeated(column: Column, groupOf: Int32Array): Values {
  if (column.level !== 'group' && column.level !== 'shard') return column;
  return gatherRows(column, column.level === 'group' ? groupOf : new Int32Array(groupOf.length));
}
