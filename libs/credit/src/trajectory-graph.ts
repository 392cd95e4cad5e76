import type { TrajectoryBatch } from '#lib/dataset';
import { ownerOf, pairLabels } from '#lib/numeric';
import type { TextValues } from './signal-kinds.js';

/** The rollouts of each group merged at equal states: turns are edges between nodes. Nothing crosses groups. */
export interface TrajectoryGraph {
  readonly nodeCount: number;
  /** [turns] the state before the turn */
  readonly nodeOf: Int32Array;
  /** [turns] the state after it: that of the next turn, or of the end */
  readonly nextNode: Int32Array;
  /** [trajectories] the state it ended in; -1: it has no turn */
  readonly endNode: Int32Array;
}

/**
 * Merges rollouts at equal states inside their group. The state after the last turn is the signal finalState; where it is
 * not said, all such trajectories of a group end in one node of their own.
 *
 * @param trajectories with texts: a final state may be one that was visited
 * @param finalState [trajectories]
 */
export function trajectoryGraph(trajectories: TrajectoryBatch, finalState: TextValues | undefined): TrajectoryGraph {
  const { turnOffsets, groupOf, stateKey } = trajectories;
  const finalKey = trajectories.finalKey ? chosenKeys(trajectories) : finalKeys(trajectories, finalState);
  const trajectoryOf = ownerOf(turnOffsets);
  const turnCount = stateKey.length;

  const group = new Int32Array(turnCount + groupOf.length);
  const key = new Int32Array(group.length);
  key.set(stateKey);
  for (let t = 0; t < turnCount; t++) group[t] = groupOf[trajectoryOf[t]];
  for (let i = 0; i < groupOf.length; i++) {
    const hasTurns = turnOffsets[i] < turnOffsets[i + 1];
    group[turnCount + i] = hasTurns ? groupOf[i] : -1;
    key[turnCount + i] = finalKey[i];
  }
  const { labels, count } = pairLabels(group, key);
  const nodeOf = labels.subarray(0, turnCount);
  const endNode = labels.subarray(turnCount);
  const nextNode = nodeOf.map((_, t) => {
    const i = trajectoryOf[t];
    return t + 1 < turnOffsets[i + 1] ? nodeOf[t + 1] : endNode[i];
  });
  return { nodeCount: count, nodeOf, nextNode, endNode };
}

/** [trajectories] the key of the final state: that of an equal state where there is one, else one behind all states'. */
function finalKeys({ ids, texts }: TrajectoryBatch, finalState: TextValues | undefined): Int32Array {
  const states = texts!.states;
  const keyOf = new Map(finalState ? states.map((state, key) => [state, key]) : []);
  const unsaid = states.length;
  let next = unsaid + 1;
  return Int32Array.from(ids, (_, i) => {
    const state = finalState?.[i] ?? null;
    if (state === null) return unsaid;
    const key = keyOf.get(state) ?? next++;
    keyOf.set(state, key);
    return key;
  });
}

/** [trajectories] as the analysis identified them; those that were not said are one behind all others, as there. */
function chosenKeys({ finalKey, texts }: TrajectoryBatch): Int32Array {
  return finalKey!.map((key) => (key < 0 ? texts!.states.length : key));
}

/** Lists of rows by label, as ragged rows: the rows of label l are `rows[offsets[l] .. offsets[l + 1] - 1]`. */
export function rowsByLabel(labels: Int32Array, count: number): { offsets: Int32Array; rows: Int32Array } {
  const offsets = new Int32Array(count + 1);
  for (const label of labels) if (label >= 0) offsets[label + 1]++;
  for (let label = 0; label < count; label++) offsets[label + 1] += offsets[label];
  const rows = new Int32Array(offsets[count]);
  const next = offsets.slice();
  labels.forEach((label, row) => {
    if (label >= 0) rows[next[label]++] = row;
  });
  return { offsets, rows };
}
