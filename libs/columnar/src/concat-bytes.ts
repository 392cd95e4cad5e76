/** Gives memory for some bytes; what lies there already is written over. */
export type Allocate = (bytes: number) => Uint8Array;

/** Memory that nobody had before. */
const fresh: Allocate = (bytes) => new Uint8Array(bytes);

/** Some chunks in one piece. */
export function concatBytes(chunks: readonly Uint8Array[], allocate = fresh): Uint8Array {
  const whole = allocate(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
