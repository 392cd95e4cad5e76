/**
 * The few rows of highest score, the highest first; of equal ones the earlier first.
 *
 * @param scores [rows] NaN: not to be taken
 */
export function bestRows(scores: ArrayLike<number>, most: number): number[] {
  const best: number[] = [];
  for (let row = 0; row < scores.length; row++) {
    const score = scores[row];
    if (Number.isNaN(score) || (best.length === most && !(score > scores[best[most - 1]]))) continue;
    if (best.length < most) best.push(row);
    let at = best.length - 1;
    for (; at > 0 && score > scores[best[at - 1]]; at--) best[at] = best[at - 1];
    best[at] = row;
  }
  return best;
}
