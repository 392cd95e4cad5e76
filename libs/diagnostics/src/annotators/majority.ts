const LABELS = [-1, 0, 1] as const;

/**
 * What most annotators say.
 *
 * @param labels [annotators][turns] −1, 0, +1; NaN: not labelled
 * @returns [turns] the label that most gave; NaN where nobody did, or two lead
 */
export function majority(labels: readonly Float64Array[]): Float64Array {
  return Float64Array.from(labels[0], (_, turn) => {
    const votes = LABELS.map((label) => labels.filter((given) => given[turn] === label).length);
    const most = Math.max(...votes);
    const leading = LABELS.filter((_label, k) => votes[k] === most);
    return most > 0 && leading.length === 1 ? leading[0] : NaN;
  });
}
