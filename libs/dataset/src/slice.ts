import { laterColumn } from './later-column.js';
import type { SignalColumn, SignalPath, TrajectoryBatch } from './trajectory-batch.js';
import { levelOf } from './trajectory-batch.js';

/**
 * The trajectories in rows `firstRow .. firstRow + rowCount - 1`. Numbers stay views of the same buffers; groups without
 * a row are left out, a parent outside the slice becomes -1, keys and texts stay those of the whole.
 */
export function sliceTrajectories(trajectories: TrajectoryBatch, firstRow: number, rowCount: number): TrajectoryBatch {
  const end = firstRow + rowCount;
  if (firstRow === 0 && end === trajectories.ids.length) return trajectories;
  const { turnOffsets, tokenOffsets } = trajectories;
  const [firstTurn, endTurn] = [turnOffsets[firstRow], turnOffsets[end]];
  const range = {
    trajectory: [firstRow, end],
    turn: [firstTurn, endTurn],
    token: [tokenOffsets[firstTurn], tokenOffsets[endTurn]],
  } as const;
  const sliced = (path: SignalPath, column: SignalColumn) =>
    [path, sliceColumn(column, ...range[levelOf(path)])] as const;

  return {
    ids: trajectories.ids.slice(firstRow, end),
    ...numberGroups(trajectories.groupOf.subarray(firstRow, end), trajectories.groups),
    trainingStep: trajectories.trainingStep.subarray(firstRow, end),
    parentOf: rowsInside(trajectories.parentOf, firstRow, end),
    parentTurn: trajectories.parentTurn.subarray(firstRow, end),
    turnOffsets: fromZero(turnOffsets.subarray(firstRow, end + 1)),
    tokenOffsets: fromZero(tokenOffsets.subarray(firstTurn, endTurn + 1)),
    stateKey: trajectories.stateKey.subarray(firstTurn, endTurn),
    actionKey: trajectories.actionKey.subarray(firstTurn, endTurn),
    columns: new Map([...trajectories.columns].map(([path, column]) => sliced(path, column))),
    texts: trajectories.texts,
  };
}

/** Numbers the groups that have a row, from 0 in order of first appearance. */
export function numberGroups(groupOf: Int32Array, names: readonly string[]) {
  const numberOf = new Int32Array(names.length).fill(-1);
  const groups: string[] = [];
  const renumbered = new Int32Array(groupOf.length);
  for (let i = 0; i < groupOf.length; i++) {
    const group = groupOf[i];
    if (numberOf[group] < 0) numberOf[group] = groups.push(names[group]) - 1;
    renumbered[i] = numberOf[group];
  }
  return { groupOf: renumbered, groups, groupCount: groups.length };
}

// Plain loops: a callback that is made for each slice is compiled anew whenever the collector has run.

/** What these rows name among themselves; -1: a row outside, or none. */
function rowsInside(named: Int32Array, first: number, end: number): Int32Array {
  const inside = new Int32Array(end - first);
  for (let i = 0; i < inside.length; i++) {
    const row = named[first + i];
    inside[i] = row >= first && row < end ? row - first : -1;
  }
  return inside;
}

function fromZero(offsets: Int32Array): Int32Array {
  const first = offsets[0];
  if (first === 0) return offsets;
  const moved = new Int32Array(offsets.length);
  for (let i = 0; i < moved.length; i++) moved[i] = offsets[i] - first;
  return moved;
}

function sliceColumn(column: SignalColumn, from: number, to: number): SignalColumn {
  if (column.kind === 'number') return laterColumn('number', () => column.values.subarray(from, to));
  if (column.kind === 'text') return laterColumn('text', () => column.values.slice(from, to));
  return laterColumn('json', () => column.values.slice(from, to));
}
