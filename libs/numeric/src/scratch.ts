/** Longer ones are new at each call: what lies here is kept as long as the thread, a hundred times over. */
const MOST_KEPT = 2 ** 16;

/**
 * Integers for a function to work with while it runs: the same memory at each call, so that nothing is asked for, cleared
 * or collected, and what was used last is still near the processor. Never for what is returned or kept, and never in a
 * function that calls itself: one call is over before the next begins.
 *
 * @returns gives that many integers, with whatever the call before left in them
 */
export function scratchInts(): (length: number) => Int32Array {
  let kept = new Int32Array(0);
  return (length) => {
    if (length > MOST_KEPT) return new Int32Array(length);
    if (length > kept.length) kept = new Int32Array(roomFor(length));
    return kept.subarray(0, length);
  };
}

/** The same of numbers. */
export function scratchDoubles(): (length: number) => Float64Array {
  let kept = new Float64Array(0);
  return (length) => {
    if (length > MOST_KEPT) return new Float64Array(length);
    if (length > kept.length) kept = new Float64Array(roomFor(length));
    return kept.subarray(0, length);
  };
}

const roomFor = (length: number) => 2 ** Math.ceil(Math.log2(length));
