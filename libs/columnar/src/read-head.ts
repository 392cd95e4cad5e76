import { headIn } from './arrow-head.js';
import type { Allocate } from './concat-bytes.js';

/** Where files of segments lie: as a segment store has them. */
export interface Files {
  get(key: string, allocate?: Allocate): Promise<Uint8Array>;
  getPart?(key: string, from: number, to?: number, allocate?: Allocate): Promise<Uint8Array>;
}

/** A footer names all columns of a file: this is enough for about a hundred. */
const END_BYTES = 2 ** 14;

/**
 * What `openSegment` needs of a file where nobody asks for the values of tokens: its head, or all of it where the file has
 * no head (it has no tokens, or is of an earlier version) or its store gives no parts.
 */
export async function readHead(files: Files, key: string, allocate?: Allocate): Promise<Uint8Array> {
  const head = files.getPart && headIn(await files.getPart(key, -END_BYTES));
  if (!files.getPart || !head) return files.get(key, allocate);
  const bytes = await files.getPart(key, 0, head.length + head.end.length, allocate);
  bytes.set(head.end, bytes.length - head.end.length);
  return bytes;
}
