import { levelOf, numbers, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import { ownerOf, repeatRows } from '#lib/numeric';
import type { KeyedTexts, StreamColumn, StreamRows, StreamValues } from './arrow-stream.js';
import { freeName } from './field-names.js';
import { distinctTexts } from './intern-texts.js';
import { rankInList } from './rank-in-list.js';

const OWN: readonly StreamColumn[] = [
  { name: 'trajectory', type: 'text' },
  { name: 'group', type: 'text' },
  { name: 'trainingStep', type: 'integer' },
  { name: 'turn', type: 'integer' },
  { name: 'state', type: 'text' },
  { name: 'action', type: 'text' },
  { name: 'reward', type: 'number' },
  { name: 'outcomeReward', type: 'number' },
  { name: 'success', type: 'number' },
];
const OWN_PATHS = new Map<string, SignalPath>([
  ['reward', 'turn.reward'],
  ['outcomeReward', 'trajectory.outcomeReward'],
  ['success', 'trajectory.success'],
]);

/**
 * `trajectories.arrow`: a row per turn; what is said of a trajectory stands on each of its turns.
 *
 * @param signals numeric signals of turns, under their names, and of trajectories, under `trajectory.<name>`
 */
export function trajectoryTable(signals: readonly SignalPath[]) {
  const used = new Set(OWN.map(({ name }) => name));
  const own = new Set<string>(OWN_PATHS.values());
  const paths = new Map(OWN_PATHS);
  for (const path of signals) {
    const level = levelOf(path);
    if (level === 'token' || own.has(path)) continue;
    paths.set(freeName(level === 'turn' ? path.slice('turn.'.length) : path, used).name, path);
  }
  const signalColumns = [...paths.keys()].slice(OWN_PATHS.size).map((name): StreamColumn => ({ name, type: 'number' }));
  return {
    columns: [...OWN, ...signalColumns],
    rowsOf: (trajectories: TrajectoryBatch) => rowsOf(trajectories, paths),
  };
}

function rowsOf(trajectories: TrajectoryBatch, paths: ReadonlyMap<string, SignalPath>): StreamRows {
  const { ids, groups, groupOf, trainingStep, turnOffsets, stateKey, actionKey, texts } = trajectories;
  const row = ownerOf(turnOffsets);
  const values = new Map<string, StreamValues>([
    ['trajectory', distinctTexts(row, ids)],
    [
      'group',
      distinctTexts(
        row.map((i) => groupOf[i]),
        groups,
      ),
    ],
    ['trainingStep', row.map((i) => trainingStep[i])],
    ['turn', rankInList(turnOffsets)],
  ]);
  if (texts) values.set('state', usedTexts(stateKey, texts.states)).set('action', usedTexts(actionKey, texts.actions));
  for (const [name, path] of paths) {
    const column = numbers(trajectories, path);
    if (column) values.set(name, levelOf(path) === 'turn' ? column : repeatRows(column, turnOffsets));
  }
  return { rows: stateKey.length, values };
}

/** The texts that rows have, in order: the batch may be one step of a segment and hold the texts of all. */
function usedTexts(keys: Int32Array, texts: readonly string[]): KeyedTexts {
  const numberOf = new Int32Array(texts.length).fill(-1);
  const used: string[] = [];
  const renumbered = keys.map((key) => {
    if (key < 0) return -1;
    if (numberOf[key] < 0) numberOf[key] = used.push(texts[key]) - 1;
    return numberOf[key];
  });
  return { keys: renumbered, texts: used };
}
