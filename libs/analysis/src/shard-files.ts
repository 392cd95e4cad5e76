import { readHead } from '#lib/columnar';
import { sha256 } from '#lib/event-log';
import type { SegmentStore } from '#lib/storage';

/** The files of one shard, on their way from the store and back. */
export class ShardFiles {
  readonly #underWay = new Set<Promise<unknown>>();
  #lastWritten: Promise<unknown> = Promise.resolve();

  /** @param allocate memory for one shard */
  constructor(
    private readonly store: SegmentStore,
    readonly allocate: (bytes: number) => Uint8Array,
  ) {}

  read(key: string): Promise<Uint8Array> {
    return this.#watched(this.store.get(key, this.allocate));
  }

  /** What `openSegment` needs where nobody asks for the values of tokens. */
  readHead(key: string): Promise<Uint8Array> {
    return this.#watched(readHead(this.store, key, this.allocate));
  }

  /**
   * Begins to write a file when the one before is written, so that a shard never has more than two on their way.
   *
   * @returns `written`: its sha256 in hex, once it is on disk
   */
  async write(key: string, bytes: Uint8Array): Promise<{ readonly written: Promise<string> }> {
    await this.#lastWritten;
    const written = this.#watched(
      Promise.all([sha256(bytes), this.store.put(key, bytes)]).then(([digest]) => digest.toString('hex')),
    );
    this.#lastWritten = written;
    return { written };
  }

  /** Nothing is read or written any more, whether it went well or not: the memory may be used again. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  #watched<T>(way: Promise<T>): Promise<T> {
    this.#underWay.add(way);
    way.then(
      () => this.#underWay.delete(way),
      () => this.#underWay.delete(way),
    );
    return way;
  }
}
