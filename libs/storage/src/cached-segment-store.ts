import type { FileCache } from './file-cache.js';
import { ownMemory, type Allocate } from './read-whole.js';
import { checkKey, type SegmentStore } from './segment-store.js';

/**
 * A store that is far away, and copies of what was read of it lately. Files do not change under their keys but where the same
 * is written again, so a copy that is there is as good as the file.
 */
export class CachedSegmentStore implements SegmentStore {
  /** @param place of the store, since several may share a cache */
  constructor(
    private readonly far: SegmentStore,
    private readonly cache: FileCache,
    private readonly place: string,
  ) {}

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.far.put(key, bytes);
    await this.cache.remove(this.#name(key));
  }

  async get(key: string, allocate: Allocate = ownMemory): Promise<Uint8Array> {
    const name = this.#name(key);
    const copy = await this.cache.read(name, allocate);
    if (copy) return copy;
    const bytes = await this.far.get(key, allocate);
    await this.cache.write(name, bytes);
    return bytes;
  }

  /** The copy first: an erasure that ends half-way must not leave it. */
  async delete(key: string): Promise<void> {
    await this.cache.remove(this.#name(key));
    await this.far.delete(key);
    await this.cache.remove(this.#name(key));
  }

  exists(key: string): Promise<boolean> {
    return this.far.exists(key);
  }

  list(prefix: string): Promise<string[]> {
    return this.far.list(prefix);
  }

  probe(): Promise<void> {
    return this.far.probe();
  }

  #name(key: string): string {
    return `${this.place}/${checkKey(key)}`;
  }
}
