/** The distinct texts in order of first appearance, and the key of each row into them; -1 for null. */
export function internTexts(rows: readonly (string | null)[]): { keys: Int32Array; texts: string[] } {
  const keyOf = new Map<string, number>();
  const keys = Int32Array.from(rows, (text) => {
    if (text === null) return -1;
    const key = keyOf.get(text) ?? keyOf.size;
    keyOf.set(text, key);
    return key;
  });
  return { keys, texts: [...keyOf.keys()] };
}

/** The same rows over distinct texts: a dictionary that says a text twice is refused by some readers. */
export function distinctTexts(keys: Int32Array, texts: readonly string[]): { keys: Int32Array; texts: string[] } {
  const distinct = internTexts(texts);
  return { keys: keys.map((key) => (key < 0 ? -1 : distinct.keys[key])), texts: distinct.texts };
}
