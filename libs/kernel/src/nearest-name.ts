/** One letter in so many may be wrong. */
const LETTERS_PER_MISTAKE = 4;

/**
 * Which of some names was meant by one that is none of them: the one with the fewest letters added, left out, changed or
 * swapped with the next, of those with at most one mistake in four letters. Capitals, `_`, `-`, `.` and spaces make no
 * difference. Of several that are as near, the first.
 *
 * @param lettersPerMistake one letter in so many may be wrong
 * @returns null where none is near
 */
export function nearestName(
  name: string,
  names: Iterable<string>,
  lettersPerMistake = LETTERS_PER_MISTAKE,
): string | null {
  const wanted = lettersOf(name);
  let nearest: string | null = null;
  let fewest = Math.floor(wanted.length / lettersPerMistake) + 1;
  for (const candidate of names) {
    const mistakes = editDistance(wanted, lettersOf(candidate));
    if (mistakes >= fewest) continue;
    nearest = candidate;
    fewest = mistakes;
  }
  return nearest;
}

/**
 * The end of a refusal of a name: `: was grpo meant?`, or where none is near what there is.
 *
 * @param otherwise what to say where none is near
 */
export function meantInstead(
  name: string,
  names: readonly string[],
  otherwise = `; there are ${names.join(', ')}`,
): string {
  const near = nearestName(name, names);
  return near === null ? otherwise : `: was ${near} meant?`;
}

const lettersOf = (name: string) => name.toLowerCase().replace(/[_\-.\s]/g, '');

/** Restricted Damerau-Levenshtein: a pair of neighbours is swapped once at most. Time and space |a| · |b|. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(changed, row[j - 1] + 1, rows[i - 1][j] + 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1);
    }
    rows.push(row);
  }
  return rows[a.length][b.length];
}
