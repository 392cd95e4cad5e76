import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { pairName, sortedEntries, type Entries } from './sums.js';

/** Turn signals that annotators label with −1, 0, +1. */
const LABEL_SIGNALS = ['humanLabel', 'judgeLabel'];

/** Annotators of a signal whose labels are kept, the first by name. */
const MAX_ANNOTATORS = 20;

/** What each annotator said under the signals that are labels, by pairName(signal, annotator) [turns] NaN: not labelled. */
export function labelsByAnnotator(trajectories: TrajectoryBatch): Entries<Float64Array> {
  const kept = LABEL_SIGNALS.flatMap((signal) => {
    const begins = `turn.${signal}@`;
    const paths = [...trajectories.columns.keys()].filter((path) => path.startsWith(begins) && !path.includes('#'));
    const found = paths.sort().slice(0, MAX_ANNOTATORS);
    return found.flatMap((path) => {
      const labels = numbers(trajectories, path);
      return labels ? [[pairName(signal, path.slice(begins.length)), Float64Array.from(labels)] as const] : [];
    });
  });
  return sortedEntries(kept);
}
