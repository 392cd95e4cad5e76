import type { TextValues } from './signal-kinds.js';

/** A key per distinct text, from 0 in order of first appearance; -1: not said. */
export function textKeys(values: TextValues): { keys: Int32Array; texts: readonly string[] } {
  const keyOf = new Map<string, number>();
  const keys = Int32Array.from(values, (text) => {
    if (text === null) return -1;
    const key = keyOf.get(text) ?? keyOf.size;
    keyOf.set(text, key);
    return key;
  });
  return { keys, texts: [...keyOf.keys()] };
}
