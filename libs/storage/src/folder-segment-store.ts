import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ownMemory, readWhole, type Allocate } from './read-whole.js';
import { checkKey, missingSegment, type SegmentStore } from './segment-store.js';

/** No key ends like this, so an unfinished file is never listed. */
const UNFINISHED = '.~';

/** A folder as segment store. */
export class FolderSegmentStore implements SegmentStore {
  constructor(private readonly folder: string) {}

  /** Written beside its place and moved there, so that no reader ever sees a part of it. */
  async put(key: string, bytes: Uint8Array): Promise<void> {
    const path = this.#path(key);
    const folder = dirname(path);
    const unfinished = `${path}.${randomBytes(6).toString('hex')}${UNFINISHED}`;
    try {
      const file = await created(unfinished);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    await syncFolder(folder);
  }

  get(key: string, allocate?: Allocate): Promise<Uint8Array> {
    return this.getPart(key, 0, Infinity, allocate);
  }

  async getPart(key: string, from: number, to = Infinity, allocate: Allocate = ownMemory): Promise<Uint8Array> {
    try {
      const file = await open(this.#path(key));
      try {
        const { size } = await file.stat();
        const start = from < 0 ? Math.max(size + from, 0) : from;
        return await readWhole(file, Math.max(Math.min(to, size) - start, 0), allocate, start);
      } finally {
        await file.close();
      }
    } catch (error) {
      throw isMissing(error) ? missingSegment(key, error) : error;
    }
  }

  async exists(key: string): Promise<boolean> {
    try {
      return (await stat(this.#path(key))).isFile();
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async list(prefix: string): Promise<string[]> {
    const below = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    const root = below === '' ? this.folder : this.#path(below.slice(0, -1));
    try {
      const entries = await readdir(root, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && !entry.name.endsWith(UNFINISHED))
        .map((entry) => relative(this.folder, join(entry.parentPath, entry.name)))
        .filter((key) => key.startsWith(prefix))
        .toSorted();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  async probe(): Promise<void> {
    const path = join(this.folder, `probe.${randomBytes(6).toString('hex')}${UNFINISHED}`);
    try {
      await writeFile(path, 'x', { mode: 0o600, flag: 'wx' });
    } finally {
      await rm(path, { force: true });
    }
  }

  async delete(key: string): Promise<void> {
    await rm(this.#path(key), { force: true });
  }

  #path(key: string): string {
    return join(this.folder, checkKey(key));
  }
}

/** A new file, in a folder that is made where it is not there yet. */
async function created(path: string): Promise<FileHandle> {
  const create = () => open(path, 'wx', 0o600);
  try {
    return await create();
  } catch (error) {
    if (!isMissing(error)) throw error;
    await makeFolder(dirname(path));
    return create();
  }
}

/** Makes it and what is above it, each name on disk. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!first) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** Otherwise a power cut may forget the name of a file whose bytes it kept. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';
