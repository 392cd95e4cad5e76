/** What a comparison found: the largest absolute error of a number, and where values do not agree. */
export interface Findings {
  largestError: number;
  readonly differences: string[];
}

/**
 * Compares nested values number by number, within an absolute tolerance. null: nothing is said, also of a whole list; a
 * flag is 1 or 0.
 *
 * @param path names the place in a difference: `turnAdvantage[2][0]`
 */
export function compareValues(got: unknown, want: unknown, tolerance: number, path: string, into: Findings): void {
  if (Array.isArray(want)) {
    if (!Array.isArray(got)) into.differences.push(`${path}: expected a list of ${want.length}, got ${shown(got)}`);
    else if (got.length !== want.length) {
      into.differences.push(`${path}: expected ${want.length} values, got ${got.length}`);
    } else want.forEach((value, i) => compareValues(got[i], value, tolerance, `${path}[${i}]`, into));
    return;
  }
  if (want === null && Array.isArray(got) && got.flat(Infinity).every((value) => value === null)) return;
  const [a, b] = [numberOf(got), numberOf(want)];
  if (typeof a === 'number' && typeof b === 'number') {
    const error = Math.abs(a - b);
    if (error > into.largestError) into.largestError = error;
    if (!(error <= tolerance))
      into.differences.push(`${path}: expected ${b}, got ${a}, off by ${error.toPrecision(3)}`);
  } else if (a !== b) {
    into.differences.push(`${path}: expected ${shown(want)}, got ${shown(got)}`);
  }
}

/**
 * Compares labels as partitions: the same rows together, whatever the labels.
 */
export function comparePartitions(got: unknown, want: unknown, path: string, into: Findings): void {
  const pairs: [unknown, unknown, string][] = [];
  collectPairs(got, want, path, pairs, into);
  const gotOf = new Map<unknown, unknown>();
  const wantOf = new Map<unknown, unknown>();
  for (const [a, b, place] of pairs) {
    if (!wantOf.has(a)) wantOf.set(a, b);
    if (!gotOf.has(b)) gotOf.set(b, a);
    if (wantOf.get(a) !== b) into.differences.push(`${place}: ${shown(b)} is together with ${shown(wantOf.get(a))}`);
    else if (gotOf.get(b) !== a) into.differences.push(`${place}: is apart from the others of ${shown(b)}`);
  }
}

function collectPairs(
  got: unknown,
  want: unknown,
  path: string,
  pairs: [unknown, unknown, string][],
  into: Findings,
): void {
  if (!Array.isArray(want)) {
    pairs.push([got, want, path]);
  } else if (!Array.isArray(got) || got.length !== want.length) {
    into.differences.push(`${path}: expected a list of ${want.length}, got ${shown(got)}`);
  } else {
    want.forEach((value, i) => collectPairs(got[i], value, `${path}[${i}]`, pairs, into));
  }
}

const numberOf = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value);

const shown = (value: unknown) =>
  Array.isArray(value) ? `a list of ${value.length}` : (JSON.stringify(value) ?? 'nothing');
