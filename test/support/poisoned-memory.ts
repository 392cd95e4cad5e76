import { vi } from 'vitest';

/** Neither makes NaN, 0, 1 or -1, of which a column may be full anyway. */
const POISONS = [0x5a, 0x41];

/**
 * What work says when memory that nobody set is full of this and of that. Where they differ, a number was read that nobody
 * wrote: fresh memory is mostly 0, so that without poison nobody sees it.
 */
export function saidOverPoison<T>(work: () => T): T[] {
  return POISONS.map((poison) => {
    const poisoned = vi
      .spyOn(Buffer, 'allocUnsafeSlow')
      .mockImplementation((bytes) => Buffer.from(new Uint8Array(bytes).fill(poison).buffer));
    try {
      return work();
    } finally {
      poisoned.mockRestore();
    }
  });
}
