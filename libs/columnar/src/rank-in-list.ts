/**
 * The place of each element in its list, from 0: the index of a turn in its trajectory, of a token in its turn.
 *
 * @param offsets [lists + 1]
 * @returns [elements]
 */
export function rankInList(offsets: Int32Array): Int32Array {
  const ranks = new Int32Array(offsets[offsets.length - 1]);
  for (let list = 0; list + 1 < offsets.length; list++) {
    for (let at = offsets[list]; at < offsets[list + 1]; at++) ranks[at] = at - offsets[list];
  }
  return ranks;
}
