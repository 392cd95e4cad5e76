import { isObject } from '../options.js';

export interface Disagreement {
  largestError: number;
  readonly differences: string[];
}

/** Compares what is expected with what was found, number by number; what is not expected is not looked at. */
export function compareNested(
  expected: unknown,
  found: unknown,
  tolerance: number,
  path = '',
  into: Disagreement = { largestError: 0, differences: [] },
): Disagreement {
  if (typeof expected === 'number' && typeof found === 'number') {
    const error = Math.abs(expected - found);
    into.largestError = Math.max(into.largestError, error);
    if (!(error <= tolerance)) into.differences.push(`${path}: expected ${expected}, got ${found}`);
  } else if (Array.isArray(expected) && Array.isArray(found) && expected.length === found.length) {
    expected.forEach((value, i) => compareNested(value, found[i], tolerance, `${path}[${i}]`, into));
  } else if (isObject(expected) && isObject(found)) {
    for (const [name, value] of Object.entries(expected)) {
      compareNested(value, found[name], tolerance, path ? `${path}.${name}` : name, into);
    }
  } else if (expected !== found) {
    const [want, got] = [expected, found].map((value) => JSON.stringify(value) ?? 'nothing');
    into.differences.push(`${path}: expected ${want}, got ${got}`);
  }
  return into;
}
