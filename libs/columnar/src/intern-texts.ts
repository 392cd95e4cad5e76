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
