/** Values by name, sorted by name: survives JSON and structured clone, and has one order. */
export type Entries<T> = readonly (readonly [name: string, value: T])[];

/** A credit this small, or smaller, says nothing and has no sign. */
export const ZERO_TOLERANCE = 1e-8;

/** −1, 0 or 1, where everything within ZERO_TOLERANCE is 0. */
export function signOf(value: number): -1 | 0 | 1 {
  // no branch: which sign a credit has cannot be guessed, and a wrong guess costs more than both comparisons
  return (Number(value > ZERO_TOLERANCE) - Number(value < -ZERO_TOLERANCE)) as -1 | 0 | 1;
}

/** The name of a pair of columns; no estimator key and no signal name contains the separator. */
export function pairName(left: string, right: string): string {
  return `${left}\u0000${right}`;
}

/** The two names that pairName joined. */
export function namesOf(pair: string): [left: string, right: string] {
  const at = pair.indexOf('\u0000');
  return [pair.slice(0, at), pair.slice(at + 1)];
}

/** Entries in the one order. */
export function sortedEntries<T>(entries: Iterable<readonly [string, T]>): Entries<T> {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Every pair (earlier, later) of a list. */
export function pairsOf<T>(list: readonly T[]): (readonly [T, T])[] {
  return list.flatMap((left, i) => list.slice(i + 1).map((right) => [left, right] as const));
}

/** Joins two lists of entries; a name that both have is merged, one that only one has is kept. */
export function mergeEntries<T>(a: Entries<T>, b: Entries<T>, merge: (a: T, b: T) => T): Entries<T> {
  const joined = new Map(a);
  for (const [name, value] of b) {
    const known = joined.get(name);
    joined.set(name, known === undefined ? value : merge(known, value));
  }
  return sortedEntries(joined);
}

/** Adds counts and sums field by field; of two histograms the shorter is taken to end in zeros. */
export function addSums<T extends { readonly [K in keyof T]: number | Float64Array }>(a: T, b: T): T {
  const keys = Object.keys(a) as (keyof T)[];
  return Object.fromEntries(keys.map((key) => [key, added(a[key], b[key])])) as T;
}

function added(a: number | Float64Array, b: number | Float64Array): number | Float64Array {
  if (typeof a === 'number' || typeof b === 'number') return Number(a) + Number(b);
  const [longer, shorter] = a.length >= b.length ? [a, b] : [b, a];
  const sum = longer.slice();
  for (let i = 0; i < shorter.length; i++) sum[i] += shorter[i];
  return sum;
}

/** Null for what is undefined, with the reason beside it: never 0, never NaN. */
export function withReasons<K extends string>(
  numbers: Record<K, readonly [value: number, reason: string]>,
): Record<K, number | null> & { readonly reasons: Readonly<Record<string, string>> } {
  const rows = Object.entries(numbers) as [K, readonly [number, string]][];
  const values = rows.map(([name, [value]]) => [name, Number.isFinite(value) ? value : null]);
  const reasons = rows.filter(([, [value]]) => !Number.isFinite(value)).map(([name, [, reason]]) => [name, reason]);
  return { ...(Object.fromEntries(values) as Record<K, number | null>), reasons: Object.fromEntries(reasons) };
}
