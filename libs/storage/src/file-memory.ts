/** Memory lent to one piece of work. */
export interface LentMemory {
  /** What lies there already is written over. */
  readonly allocate: (bytes: number) => Uint8Array;
  /** Nobody looks at any of it any more. */
  readonly giveBack: () => void;
}

/** Blocks are as large as some power of two, or three halves of one. */
const LEAST_BYTES = 1 << 16;

/**
 * Memory for files that are read and made, used again by the next piece of work: new memory costs a page fault every 4 KiB, and the
 * garbage collector counts it as its own and runs for it.
 */
export class FileMemory {
  readonly #free: Uint8Array[] = [];
  #freeBytes = 0;

  /** @param keptBytes what lies here unused, at most */
  constructor(private readonly keptBytes: number) {}

  /** What is never given back is freed with whoever looks at it. */
  lend(): LentMemory {
    const lent: Uint8Array[] = [];
    return {
      allocate: (bytes) => {
        const block = this.#take(blockBytes(bytes));
        lent.push(block);
        return block.subarray(0, bytes);
      },
      giveBack: () => {
        for (const block of lent.splice(0)) this.#keep(block);
      },
    };
  }

  #take(bytes: number): Uint8Array {
    const at = this.#free.findIndex((block) => block.length === bytes);
    if (at < 0) return new Uint8Array(bytes);
    this.#freeBytes -= bytes;
    return this.#free.splice(at, 1)[0];
  }

  #keep(block: Uint8Array): void {
    if (block.length > this.keptBytes) return;
    // what nobody asked for lately makes room
    while (this.#freeBytes + block.length > this.keptBytes && this.#free.length > 0) {
      this.#freeBytes -= this.#free.shift()!.length;
    }
    this.#freeBytes += block.length;
    this.#free.push(block);
  }
}

function blockBytes(bytes: number): number {
  let size = LEAST_BYTES;
  while (size < bytes) size *= 2;
  return bytes <= (size / 4) * 3 ? (size / 4) * 3 : size;
}
