import type { TrajectoryBatch } from '#lib/dataset';
import { areSimilar, indexText, pairLabels, repeatKeys, type IndexedText } from '#lib/numeric';

/** [turns] label of the set of turns that started alike, inside one group of rollouts. */
export interface StateGroups {
  readonly labels: Int32Array;
  readonly count: number;
}

/** Turns of a group that started from the same state; several visits inside one trajectory all count. */
export function equalStates({ turnOffsets, groupOf, stateKey }: TrajectoryBatch): StateGroups {
  return pairLabels(repeatKeys(groupOf, turnOffsets), stateKey);
}

/**
 * Turns of a group that started from similar states: in the order of the batch, a turn joins the first cluster whose
 * first member resembles its state (`ratio(a = state, b = first member) >= threshold`), or opens a new one.
 *
 * Equal states of a group always meet the same clusters, so each distinct state is compared once.
 */
export function similarStates(
  trajectories: TrajectoryBatch,
  states: readonly string[],
  threshold: number,
): StateGroups {
  const { turnOffsets, groupOf, stateKey } = trajectories;
  const groupOfTurn = repeatKeys(groupOf, turnOffsets);
  return similarKeys(groupOfTurn, stateKey, states, threshold);
}

/**
 * The same for any rows that have a group and the key of a text.
 *
 * @param group, key [rows] key -1: no text, and label -1
 * @param texts [keys]
 */
export function similarKeys(
  group: Int32Array,
  key: Int32Array,
  texts: readonly string[],
  threshold: number,
): StateGroups {
  const equal = pairLabels(group, key);
  const clusterOf = new Int32Array(equal.count).fill(-1);
  const clustersOfGroup: { label: number; first: IndexedText }[][] = [];
  const indexed = new Map<number, IndexedText>();
  let count = 0;

  const textOf = (key: number) => {
    const text = indexed.get(key) ?? indexText(texts[key]);
    indexed.set(key, text);
    return text;
  };
  const join = (group: number, key: number): number => {
    const clusters = (clustersOfGroup[group] ??= []);
    const text = textOf(key);
    const found = clusters.find(({ first }) => areSimilar(text, first, threshold));
    if (found) return found.label;
    clusters.push({ label: count, first: text });
    return count++;
  };

  const labels = equal.labels.map((label, row) => {
    if (label < 0) return -1;
    if (clusterOf[label] < 0) clusterOf[label] = join(group[row], key[row]);
    return clusterOf[label];
  });
  return { labels, count };
}
