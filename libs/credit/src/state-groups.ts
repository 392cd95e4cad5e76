import type { TrajectoryBatch } from '#lib/dataset';
import {
  areSimilar,
  firstRows,
  indexText,
  onlineClusters,
  pairLabels,
  repeatedPairLabels,
  repeatKeys,
  type IndexedText,
} from '#lib/numeric';

/** [turns] label of the set of turns that started alike, inside one group of rollouts. */
export interface StateGroups {
  readonly labels: Int32Array;
  readonly count: number;
}

/** Turns of a group that started from the same state; several visits inside one trajectory all count. */
export function equalStates({ turnOffsets, groupOf, stateKey }: TrajectoryBatch): StateGroups {
  return repeatedPairLabels(groupOf, turnOffsets, stateKey);
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
  const rows = firstRows(equal);
  const indexed = new Map<number, IndexedText>();
  const textOf = (row: number) => {
    const text = indexed.get(key[row]) ?? indexText(texts[key[row]]);
    indexed.set(key[row], text);
    return text;
  };
  const { labels, count } = onlineClusters(
    rows.map((row) => group[row]),
    (i, first) => areSimilar(textOf(rows[i]), textOf(rows[first]), threshold),
  );
  return { labels: equal.labels.map((label) => (label < 0 ? -1 : labels[label])), count };
}
