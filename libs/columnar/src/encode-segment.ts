import { numberGroups, type TrajectoryBatch } from '#lib/dataset';
import { textHashes } from '#lib/numeric';
import {
  counter,
  intColumn,
  keyedHashColumn,
  keyedTextColumn,
  listColumn,
  numberColumn,
  textColumn,
  type ArrowColumn,
} from './arrow-columns.js';
import { writeArrowFile } from './arrow-file.js';
import { distinctTexts } from './intern-texts.js';
import { rankInList } from './rank-in-list.js';
import { NUMERIC_FORMAT, OWN_COLUMNS, TEXT_FORMAT } from './segment-layout.js';
import { signalColumns } from './signal-columns.js';

export interface SegmentFiles {
  readonly numeric: Uint8Array;
  readonly text: Uint8Array;
}

/**
 * Finished trajectories of a run as two Arrow IPC files of one row per trajectory: numbers, and texts, which numeric scans
 * never read. The turns are a list of structs inside, the tokens a list of structs inside those. The same trajectories
 * give the same bytes.
 *
 * @param trajectories with texts; rows by (trainingStep, endPosition)
 * @param endPosition [trajectories] position of the event that ended it
 * @param parents [trajectories] id of the parent, also of one outside these trajectories
 */
export function encodeSegment(
  trajectories: TrajectoryBatch,
  endPosition: Float64Array,
  parents: readonly (string | null)[] = parentsInside(trajectories),
): SegmentFiles {
  assertSorted(trajectories, endPosition);
  return {
    numeric: encodeNumbers(trajectories, endPosition, parents),
    text: encodeTexts(trajectories),
  };
}

function encodeNumbers(
  trajectories: TrajectoryBatch,
  endPosition: Float64Array,
  parents: readonly (string | null)[],
): Uint8Array {
  const { ids, trainingStep, parentOf, parentTurn, stateKey, actionKey } = trajectories;
  const { groupOf, groups } = numberGroups(trajectories.groupOf, trajectories.groups);
  const { states, actions } = textsOf(trajectories);
  const nextId = counter();
  const group = distinctTexts(groupOf, groups);

  const own = [
    textColumn('id', ids),
    keyedTextColumn('group', group.keys, group.texts, nextId()),
    intColumn('groupKey', groupOf),
    intColumn('trainingStep', trainingStep),
    numberColumn('endPosition', endPosition),
    textColumn('parent', parents),
    intColumn('parentRow', parentOf),
    intColumn('parentTurn', parentTurn),
    ...signalColumns(trajectories, 'trajectory', 'numbers', OWN_COLUMNS.trajectory, nextId),
  ];
  const turns = [
    keyedHashColumn('state', stateKey, new BigUint64Array(textHashes(states).buffer), nextId()),
    keyedHashColumn('action', actionKey, new BigUint64Array(textHashes(actions).buffer), nextId()),
    ...signalColumns(trajectories, 'turn', 'numbers', OWN_COLUMNS.turn, nextId),
  ];
  return writeTurns(NUMERIC_FORMAT, trajectories, own, turns, numericTokens(trajectories, nextId));
}

/** The tokens come last, so that who does not read them reads the head of the file. */
function writeTurns(
  format: string,
  { ids, turnOffsets, tokenOffsets }: TrajectoryBatch,
  own: readonly ArrowColumn[],
  turns: readonly ArrowColumn[],
  tokens: readonly ArrowColumn[],
): Uint8Array {
  const inTurns = tokens.length > 0 ? [...turns, listColumn('tokens', tokenOffsets, tokens)] : turns;
  const columns = [...own, listColumn('turns', turnOffsets, inTurns)];
  return writeArrowFile(format, columns, ids.length, { lastColumns: tokens.length });
}

/** Tokens are a column where the trainer sent any. Tokens without a number are at least counted. */
function numericTokens(trajectories: TrajectoryBatch, nextId: () => number): ArrowColumn[] {
  const { tokenOffsets, stateKey } = trajectories;
  const signals = signalColumns(trajectories, 'token', 'numbers', OWN_COLUMNS.token, nextId);
  if (signals.length === 0 && tokenOffsets[stateKey.length] === 0) return [];
  return signals.length > 0 ? signals : [intColumn('token', rankInList(tokenOffsets))];
}

function encodeTexts(trajectories: TrajectoryBatch): Uint8Array {
  const { ids, stateKey, actionKey } = trajectories;
  const { states, actions } = textsOf(trajectories);
  const nextId = counter();
  const own = [
    textColumn('id', ids),
    ...signalColumns(trajectories, 'trajectory', 'texts', OWN_COLUMNS.trajectory, nextId),
  ];
  const turns = [
    keyedTextColumn('state', stateKey, states, nextId()),
    keyedTextColumn('action', actionKey, actions, nextId()),
    ...signalColumns(trajectories, 'turn', 'texts', OWN_COLUMNS.turn, nextId),
  ];
  const tokens = signalColumns(trajectories, 'token', 'texts', OWN_COLUMNS.token, nextId);
  return writeTurns(TEXT_FORMAT, trajectories, own, turns, tokens);
}

function textsOf({ texts }: TrajectoryBatch) {
  if (!texts) throw new TypeError('encodeSegment: the texts of these trajectories are not loaded');
  return texts;
}

function parentsInside({ ids, parentOf }: TrajectoryBatch): (string | null)[] {
  return Array.from(parentOf, (row) => (row < 0 ? null : ids[row]));
}

function assertSorted({ trainingStep, ids }: TrajectoryBatch, endPosition: Float64Array): void {
  for (let i = 1; i < ids.length; i++) {
    const risen = trainingStep[i] - trainingStep[i - 1] || endPosition[i] - endPosition[i - 1];
    if (risen <= 0)
      throw new RangeError(`encodeSegment: row ${i} should come after row ${i - 1} in (trainingStep, end)`);
  }
}
