import type { SourceFile } from './importer.js';
import { pythonValueOf, type Piece } from './piece.js';
import { splitElements, splitEntries } from './split-elements.js';
import { splitLines } from './split-lines.js';

/** One record of a file as JSON has it, or why it has none. */
export type FileRecord =
  | { readonly where: string; readonly raw: Uint8Array; readonly value: unknown }
  | { readonly where: string; readonly why: string };

/** The elements of a JSON array, the one object of a JSON document, or the lines of a file: whichever it is. */
export async function* readRecords({ path, bytes }: SourceFile): AsyncGenerator<FileRecord> {
  const { head, all } = await peek(bytes);
  const layout = layoutOf(head);
  if (layout === 'lines') {
    for await (const line of splitLines(all)) yield recordOf(line, `${path}:${line.number}`);
  } else if (layout === 'array') {
    yield* pieces(splitElements(all, null), path);
  } else {
    yield* document(all, path);
  }
}

/** The elements of the one array that a file is, or that stands under this key of the object that it is. */
export function readElements({ path, bytes }: SourceFile, key: string | null): AsyncGenerator<FileRecord> {
  return pieces(splitElements(bytes, key), path);
}

/** The fields of the one object that a file is, each as an object with that field alone. */
export function readEntries({ path, bytes }: SourceFile): AsyncGenerator<FileRecord> {
  return pieces(splitEntries(bytes), path);
}

async function* pieces(split: AsyncGenerator<Piece, string | null>, path: string): AsyncGenerator<FileRecord> {
  for (;;) {
    const { done, value: piece } = await split.next();
    if (!done) yield recordOf(piece, `${path}[${piece.number}]`);
    else if (piece !== null) yield { where: path, why: piece };
    if (done) return;
  }
}

/** A whole document is one line of a file without line ends in it. */
async function* document(bytes: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<FileRecord> {
  const joined = (async function* () {
    for await (const chunk of bytes) yield chunk.map((byte) => (byte === NEWLINE ? SPACE : byte));
  })();
  for await (const piece of splitLines(joined)) yield recordOf(piece, path);
}

const NEWLINE = 10;
const SPACE = 32;

function recordOf(piece: Piece, where: string): FileRecord {
  const read = pythonValueOf(piece);
  return 'why' in read ? { where, why: read.why } : { where, raw: piece.bytes!, value: read.value };
}

/** JSON of several lines begins with a line of its own; a record of JSON lines is whole on its line. */
export function layoutOf(head: string): 'lines' | 'array' | 'object' {
  const text = head.replace(/^\uFEFF/, '').trimStart();
  if (text.startsWith('[')) return 'array';
  return /^\{[ \t]*\r?\n/.test(text) ? 'object' : 'lines';
}

/** The first bytes as text, and all bytes again from the start. */
export async function peek(bytes: AsyncIterable<Uint8Array>) {
  const iterator = bytes[Symbol.asyncIterator]();
  const first = await iterator.next();
  const head = first.done ? new Uint8Array() : first.value;
  async function* all() {
    yield head;
    for (;;) {
      const next = await iterator.next();
      if (next.done) return;
      yield next.value;
    }
  }
  return { head: new TextDecoder().decode(head.subarray(0, 64 * 1024)), all: all() };
}
