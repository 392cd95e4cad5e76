import { RecreditError } from '#lib/kernel';

/**
 * Where segments and credit lie: immutable files under keys like `segments/<run>/000000.arrow`. A folder on one machine,
 * a bucket where several work together.
 */
export interface SegmentStore {
  /** All of it or nothing, and on disk when it returns. The same key again replaces. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Throws `segment.damaged` when there is none: who holds a key was told that it is there.
   *
   * @param allocate gives the memory that it is read into; a store may take its own instead
   */
  get(key: string, allocate?: (bytes: number) => Uint8Array): Promise<Uint8Array>;
  /**
   * Some bytes of a file, which nothing but their reader checks; less where it ends before. Not there where a store has no
   * part sooner than the whole.
   *
   * @param from its first byte; below 0: so many from the end of the file, up to that end
   * @param to behind its last byte
   */
  getPart?(key: string, from: number, to?: number, allocate?: (bytes: number) => Uint8Array): Promise<Uint8Array>;
  exists(key: string): Promise<boolean>;
  /** The keys that begin with the prefix, sorted. */
  list(prefix: string): Promise<string[]>;
  /** Throws what a write would meet; leaves nothing behind. */
  probe(): Promise<void>;
  /** Nothing happens when there is none. */
  delete(key: string): Promise<void>;
}

const PART = /^[A-Za-z0-9_-][A-Za-z0-9._=-]*$/;

/** A key is a relative path of harmless names, so that no id from outside can climb out of the store. */
export const isKey = (key: string) => key.length <= 1024 && key.split('/').every((part) => PART.test(part));

export function checkKey(key: string): string {
  if (isKey(key)) return key;
  throw new RecreditError('internal.error', `${JSON.stringify(key)} is no key of a segment store`);
}

export const missingSegment = (key: string, cause: unknown) =>
  new RecreditError('segment.damaged', `${key} is missing from the segment store`, { key }, { cause });
