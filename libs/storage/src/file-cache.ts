import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { readWhole, type Allocate } from './read-whole.js';

export interface FileCacheOptions {
  /** beyond it what was used least lately goes */
  readonly bytes: number;
  /** A file is read so long after it was written here, and then removed: what is erased elsewhere stays no longer. */
  readonly maxAgeMs?: number;
}

const HOUR_MS = 3_600_000;
const UNFINISHED = '.~';
const TIDIED = 'tidied';
/** Of the checksum that follows the bytes of a file. */
const TRAILER_BYTES = 4;
/** Processes and threads that share a folder tidy it in turn, at most so often. */
const TIDY_MS = 30_000;
/** Also where nothing is read any more, what is too old goes. */
const TIDY_ANYWAY_MS = 5 * 60_000;
/** A writer that takes longer was killed. */
const UNFINISHED_MS = 10 * 60_000;
/** How full the folder is left, so that not every file that comes makes it too full. */
const LEFT_FULL = 0.9;
/** No single file drives out more than this part, and each thread looks again when it has written so much itself. */
const PART = 1 / 16;

/**
 * Copies of files that lie far away, in a folder of this machine that any number of processes share. Nothing waits for it
 * and nothing fails by it: what is not there whole, and not too old, is not there.
 *
 * A copy is written beside its place and moved there, and carries a checksum, so that neither kill -9 nor a power cut leaves a
 * part of one. Its modification time says when it came, its access time when it was last used.
 */
export class FileCache {
  readonly #bytes: number;
  readonly #maxAgeMs: number;
  #written = 0;
  #tidying: Promise<void> | null = null;

  private constructor(
    private readonly folder: string,
    { bytes, maxAgeMs = HOUR_MS }: FileCacheOptions,
  ) {
    this.#bytes = bytes;
    this.#maxAgeMs = maxAgeMs;
  }

  static async open(folder: string, options: FileCacheOptions): Promise<FileCache> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const cache = new FileCache(folder, options);
    if (isMainThread) setInterval(() => void cache.#tidyInTurn(), TIDY_ANYWAY_MS).unref();
    await cache.#tidyInTurn();
    return cache;
  }

  /** @returns null where there is no copy */
  async read(name: string, allocate: Allocate): Promise<Uint8Array | null> {
    try {
      return await this.#read(this.#path(name), allocate);
    } catch {
      return null;
    }
  }

  /** Keeps a copy, if that goes well. */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    if (bytes.length > this.#bytes * PART) return;
    const path = this.#path(name);
    const unfinished = `${path}.${randomBytes(6).toString('hex')}${UNFINISHED}`;
    try {
      const file = await open(unfinished, 'wx', 0o600);
      try {
        await file.writev([bytes, trailerOf(bytes)]);
      } finally {
        await file.close();
      }
      await rename(unfinished, path);
    } catch {
      await rm(unfinished, { force: true }).catch(() => {});
    }
    this.#written += bytes.length;
    if (this.#written > this.#bytes * PART) await this.tidy();
    else void this.#tidyInTurn();
  }

  async remove(name: string): Promise<void> {
    await rm(this.#path(name), { force: true });
  }

  /** Removes what is too old, what killed writers left, and what was used least lately of what is too much. */
  tidy(): Promise<void> {
    this.#written = 0;
    return (this.#tidying ??= this.#tidy()
      .catch(() => {})
      .finally(() => (this.#tidying = null)));
  }

  async #read(path: string, allocate: Allocate): Promise<Uint8Array | null> {
    const file = await open(path);
    try {
      const { size, mtimeMs, mtime } = await file.stat();
      if (this.#isTooOld(mtimeMs) || size < TRAILER_BYTES) return null;
      const bytes = await readWhole(file, size - TRAILER_BYTES, allocate);
      const trailer = Buffer.alloc(TRAILER_BYTES);
      await file.read(trailer, 0, TRAILER_BYTES, size - TRAILER_BYTES);
      if (!trailer.equals(trailerOf(bytes))) {
        await rm(path, { force: true });
        return null;
      }
      await file.utimes(new Date(), mtime);
      return bytes;
    } finally {
      await file.close();
    }
  }

  async #tidyInTurn(): Promise<void> {
    const marker = join(this.folder, TIDIED);
    try {
      const last = await stat(marker).catch(() => null);
      if (last && Math.abs(Date.now() - last.mtimeMs) < TIDY_MS) return;
      await (last ? utimes(marker, new Date(), new Date()) : writeFile(marker, '', { mode: 0o600 }));
      await this.tidy();
    } catch {
      // a folder that cannot be written holds nothing either
    }
  }

  async #tidy(): Promise<void> {
    const names = (await readdir(this.folder)).filter((name) => name !== TIDIED);
    const kept: { path: string; size: number; usedMs: number }[] = [];
    for (const name of names) {
      const path = join(this.folder, name);
      const found = await stat(path).catch(() => null);
      if (!found) continue;
      const { size, atimeMs, mtimeMs } = found;
      const isOver = name.endsWith(UNFINISHED) ? Date.now() - mtimeMs > UNFINISHED_MS : this.#isTooOld(mtimeMs);
      if (isOver) await rm(path, { force: true });
      else kept.push({ path, size, usedMs: atimeMs });
    }
    let full = kept.reduce((sum, { size }) => sum + size, 0);
    if (full <= this.#bytes) return;
    for (const { path, size } of kept.toSorted((a, b) => a.usedMs - b.usedMs)) {
      if (full <= this.#bytes * LEFT_FULL) return;
      await rm(path, { force: true });
      full -= size;
    }
  }

  /** Also where it was written in the future, as before the clock was set back: nobody knows when that was. */
  #isTooOld(writtenMs: number): boolean {
    return Math.abs(Date.now() - writtenMs) > this.#maxAgeMs;
  }

  #path(name: string): string {
    return join(this.folder, createHash('sha256').update(name).digest('hex'));
  }
}

function trailerOf(bytes: Uint8Array): Buffer {
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeUInt32LE(crc32(bytes));
  return trailer;
}
