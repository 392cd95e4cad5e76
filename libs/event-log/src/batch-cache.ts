import type { UnpackedBatch } from './unpack.js';

const MAX_BATCHES = 4096;

/**
 * The batches used last, for a reader that comes back to what it has just read. Bounded by bytes and by number. It
 * asks nobody who may see them: it is for readers that see every project.
 */
export class BatchCache {
  readonly #batches = new Map<string, UnpackedBatch>();
  #bytes = 0;

  constructor(private readonly maxBytes = 64 * 1024 * 1024) {}

  /** What is here of a run, in no order. */
  batchesOf(runId: string): UnpackedBatch[] {
    return [...this.#batches].filter(([key]) => key.endsWith(` ${runId}`)).map(([, batch]) => batch);
  }

  /** Says that a batch was of use. A Map keeps the order of insertion, so it moves to the end. */
  touch(runId: string, batch: UnpackedBatch): void {
    const key = keyOf(runId, batch.firstPosition);
    if (this.#batches.delete(key)) this.#batches.set(key, batch);
  }

  set(runId: string, batch: UnpackedBatch): void {
    const key = keyOf(runId, batch.firstPosition);
    const replaced = this.#batches.get(key);
    if (replaced) this.#drop(key, replaced);
    if (sizeOf(batch) > this.maxBytes) return;
    this.#batches.set(key, batch);
    this.#bytes += sizeOf(batch);
    for (const [oldest, forgotten] of this.#batches) {
      if (this.#bytes <= this.maxBytes && this.#batches.size <= MAX_BATCHES) break;
      this.#drop(oldest, forgotten);
    }
  }

  #drop(key: string, batch: UnpackedBatch): void {
    this.#batches.delete(key);
    this.#bytes -= sizeOf(batch);
  }
}

function keyOf(runId: string, firstPosition: number): string {
  return `${firstPosition} ${runId}`;
}

function sizeOf({ ndjson, lineStarts }: UnpackedBatch): number {
  return ndjson.length + lineStarts.byteLength;
}
