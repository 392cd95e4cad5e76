import type { NumericValues } from '#lib/dataset';

// The curve of a trajectory: V before each of its turns `from .. to - 1`, the chance of success, then the outcome.

export interface PrefixOptions {
  /** a chance up to this is lost, one from that on is won */
  readonly lost: number;
  readonly won: number;
}

/** Whether all of a curve is known (not NaN): of the others nothing is said. */
export function isWhole(before: NumericValues, from: number, to: number): boolean {
  for (let turn = from; turn < to; turn++) if (Number.isNaN(before[turn])) return false;
  return true;
}

/** First turn from which on V stays ≥ won, as a success is secured; `to`: never. */
export function securedFrom(before: NumericValues, from: number, to: number, won: number): number {
  let since = to;
  while (since > from && before[since - 1] >= won) since--;
  return since;
}

/** First turn from which on V stays ≤ lost, where a failure has its point of no return; `to`: never. */
export function lostFrom(before: NumericValues, from: number, to: number, lost: number): number {
  let since = to;
  while (since > from && before[since - 1] <= lost) since--;
  return since;
}

const EVEN = 0.5;

/** How often the estimate falls from ≥ ½ to below; the outcome is no estimate. */
export function rightToWrong(before: NumericValues, from: number, to: number): number {
  let count = 0;
  let wasRight = 0;
  for (let turn = from; turn < to; turn++) {
    const isRight = Number(before[turn] >= EVEN);
    count += wasRight & (1 - isRight);
    wasRight = isRight;
  }
  return count;
}
