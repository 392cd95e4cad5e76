import { RecreditError } from '#lib/kernel';

/** Bytes of batches that may be in memory at once, decoded. */
const CAPACITY = 256 * 1024 * 1024;

/**
 * Bounds the memory of ingest: a request reserves what a batch may take before it is read, and gives back what it did
 * not need. Over capacity the producer keeps its batch and comes again.
 */
export class Admission {
  #reserved = 0;

  constructor(private readonly capacity = CAPACITY) {}

  enter(bytes: number): { shrink(to: number): void; leave(): void } {
    if (this.#reserved + bytes > this.capacity) {
      throw new RecreditError('capacity.exceeded', 'too many batches are being read at once', { retryAfterSeconds: 1 });
    }
    let held = bytes;
    this.#reserved += held;
    const shrink = (to: number) => {
      this.#reserved -= held - to;
      held = to;
    };
    return { shrink, leave: () => shrink(0) };
  }
}
