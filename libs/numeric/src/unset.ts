// Setting memory to 0 takes longer than most sums that are put there.

/** Numbers that are whatever lay in memory: for who writes every one of them. */
export function unsetDoubles(length: number): Float64Array {
  return new Float64Array(Buffer.allocUnsafeSlow(length * Float64Array.BYTES_PER_ELEMENT).buffer);
}

/** The same of integers. */
export function unsetInts(length: number): Int32Array {
  return new Int32Array(Buffer.allocUnsafeSlow(length * Int32Array.BYTES_PER_ELEMENT).buffer);
}
