import { MAX_RECORD_BYTES, type Piece } from './piece.js';

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const OPEN: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSE: ReadonlySet<number> = new Set([0x5d, 0x7d]);
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * The elements of one array in a JSON document, cut out without reading the document as a whole.
 *
 * @param key the array stands under this key of the outermost object; null: it is the document
 * @returns the elements, and at the end what was wrong with the document, if anything
 */
export async function* splitElements(
  chunks: AsyncIterable<Uint8Array>,
  key: string | null,
): AsyncGenerator<Piece, string | null> {
  return yield* scan(new ElementScanner(key, OPEN_ARRAY), chunks);
}

/**
 * The fields of a JSON document that is one object, cut out the same way: each as an object with that field alone.
 *
 * @returns the fields, and at the end what was wrong with the document, if anything
 */
export async function* splitEntries(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece, string | null> {
  const entries = scan(new ElementScanner(null, OPEN_OBJECT), chunks);
  for (;;) {
    const { done, value } = await entries.next();
    if (done) return value;
    yield { ...value, bytes: value.bytes && Buffer.concat([Buffer.from('{'), value.bytes, Buffer.from('}')]) };
  }
}

async function* scan(scanner: ElementScanner, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece, string | null> {
  for await (const chunk of chunks) yield* scanner.scan(chunk);
  return scanner.verdict();
}

/** Follows strings and brackets only: all structure of JSON is ASCII, so the bytes of UTF-8 text cannot look like it. */
class ElementScanner {
  private depth = 0;
  private inString = false;
  private escaped = false;
  /** depth inside the array, or the object; 0: not reached yet */
  private arrayDepth = 0;
  private done = false;
  private lastString: number[] = [];
  private lastKey = '';
  private index = 0;
  private parts: Uint8Array[] = [];
  private length = 0;
  private inElement = false;

  constructor(
    private readonly key: string | null,
    private readonly opener: typeof OPEN_ARRAY | typeof OPEN_OBJECT,
  ) {}

  *scan(chunk: Uint8Array): Generator<Piece> {
    let start = 0;
    for (let i = 0; i < chunk.length && !this.done; i++) {
      const byte = chunk[i];
      if (this.inString) {
        this.insideString(byte);
        continue;
      }
      const isOurs = this.arrayDepth > 0 && this.depth === this.arrayDepth;
      const ends = isOurs && (byte === COMMA || CLOSE.has(byte));
      if (ends && this.inElement) {
        this.take(chunk.subarray(start, i));
        yield this.element();
      }
      if (isOurs && !ends && !this.inElement && byte > 32) {
        this.inElement = true;
        start = i;
      }
      this.structure(byte);
    }
    if (this.inElement) this.take(chunk.subarray(start));
  }

  /** What was wrong, once all is read. */
  verdict(): string | null {
    if (this.done) return null;
    const wanted = this.opener === OPEN_ARRAY ? 'array' : 'object';
    if (this.arrayDepth === 0) return this.key === null ? `no JSON ${wanted}` : `no ${wanted} under ${this.key}`;
    return `it ends inside ${this.opener === OPEN_ARRAY ? 'element' : 'entry'} ${this.index}`;
  }

  private structure(byte: number): void {
    if (byte === QUOTE) {
      this.inString = true;
      this.lastString = [];
    } else if (byte === COLON && this.depth === 1) {
      this.lastKey = Buffer.from(this.lastString).toString();
    } else if (OPEN.has(byte)) {
      this.depth++;
      if (byte === this.opener && this.arrayDepth === 0 && this.isTheArray()) this.arrayDepth = this.depth;
    } else if (CLOSE.has(byte)) {
      this.depth--;
      if (this.arrayDepth > 0 && this.depth < this.arrayDepth) this.done = true;
    }
  }

  private isTheArray(): boolean {
    return this.key === null ? this.depth === 1 : this.depth === 2 && this.lastKey === this.key;
  }

  private insideString(byte: number): void {
    if (this.escaped) this.escaped = false;
    else if (byte === BACKSLASH) this.escaped = true;
    else if (byte === QUOTE) this.inString = false;
    if (this.depth === 1 && this.inString && this.arrayDepth === 0) this.lastString.push(byte);
  }

  private take(part: Uint8Array): void {
    this.length += part.length;
    if (this.length <= MAX_RECORD_BYTES) this.parts.push(part);
    else this.parts = [];
  }

  private element(): Piece {
    const bytes = this.length > MAX_RECORD_BYTES ? null : Buffer.concat(this.parts);
    this.parts = [];
    this.length = 0;
    this.inElement = false;
    return { number: this.index++, bytes };
  }
}
