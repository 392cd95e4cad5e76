import { MAX_RECORD_BYTES, type Piece } from './piece.js';

/** The lines of a file, numbered from 1. Empty ones are left out. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 1;
  const take = (part: Uint8Array) => {
    length += part.length;
    if (length <= MAX_RECORD_BYTES) parts.push(part);
    else parts = [];
  };
  const piece = (): Piece => ({ number, bytes: length > MAX_RECORD_BYTES ? null : Buffer.concat(parts) });

  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, end));
      if (!isBlank(parts, length)) yield piece();
      parts = [];
      length = 0;
      number++;
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  if (!isBlank(parts, length)) yield piece();
}

function isBlank(parts: readonly Uint8Array[], length: number): boolean {
  return (
    length <= MAX_RECORD_BYTES && parts.every((part) => part.every((byte) => byte === 32 || byte === 13 || byte === 9))
  );
}
