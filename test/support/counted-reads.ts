import type { SegmentStore } from '#lib/storage';

/** A segment store that counts how often each of its files is read, whole or its head; a look at an end is no reading. */
export function countedReads(of: SegmentStore): { store: SegmentStore; read: Readonly<Record<string, number>> } {
  const read: Record<string, number> = {};
  const count = (key: string) => (read[key] = (read[key] ?? 0) + 1);
  const store = Object.assign(Object.create(of) as SegmentStore, {
    get: (key: string) => (count(key), of.get(key)),
    getPart: (key: string, from: number, to?: number) => (from < 0 || count(key), of.getPart!(key, from, to)),
  });
  return { store, read };
}
