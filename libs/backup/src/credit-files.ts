import { createReadStream } from 'node:fs';
import { damaged } from './damaged.js';

/** A file of the segment store. */
export interface StoredFile {
  readonly key: string;
  readonly bytes: Uint8Array;
}

const NEWLINE = 10;
const MAX_HEADER = 4096;

/** One after the other: a line of JSON with key and length, then the bytes. */
export async function* packed(files: AsyncIterable<StoredFile>): AsyncGenerator<Uint8Array> {
  for await (const { key, bytes } of files) {
    yield Buffer.from(`${JSON.stringify({ key, length: bytes.length })}\n`);
    if (bytes.length > 0) yield bytes;
  }
}

/** What was packed, one file in memory at a time. */
export async function* unpacked(path: string): AsyncGenerator<StoredFile> {
  let rest = Buffer.alloc(0);
  let header: { key: string; length: number } | null = null;
  const parts: Buffer[] = [];
  let held = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    parts.push(chunk);
    held += chunk.length;
    if (header && rest.length + held < header.length) continue; // not all of it is here yet
    rest = Buffer.concat([rest, ...parts.splice(0)]);
    held = 0;
    for (;;) {
      if (!header) {
        const end = rest.indexOf(NEWLINE);
        if (end < 0 && rest.length > MAX_HEADER) throw damaged('the file of credit files cannot be read');
        if (end < 0) break;
        header = JSON.parse(rest.toString('utf8', 0, end)) as { key: string; length: number };
        rest = rest.subarray(end + 1);
      }
      if (rest.length < header.length) break;
      yield { key: header.key, bytes: rest.subarray(0, header.length) };
      rest = rest.subarray(header.length);
      header = null;
    }
  }
  if (header || rest.length > 0) throw damaged('the file of credit files ends in the middle of one');
}
