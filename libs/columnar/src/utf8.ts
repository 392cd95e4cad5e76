const encoder = new TextEncoder();
// ignoreBOM keeps a byte order mark that stands at the start of a text; fatal finds damage.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** An Arrow Utf8 column addresses its bytes with int32. */
const MAX_BYTES = 2 ** 31 - 1;
/** Texts are encoded and decoded at once up to here, one by one beyond: V8 holds no string of more than 2^29 characters. */
const MAX_AT_ONCE = 2 ** 27;

export interface Utf8Texts {
  /** [texts + 1] */
  readonly offsets: Int32Array;
  readonly bytes: Uint8Array;
  /** Texts with a lone surrogate, which UTF-8 cannot say, by index. Their bytes have U+FFFD instead. */
  readonly illFormed: Readonly<Record<number, string>>;
}

/** Texts as UTF-8, one after another; null as the empty text. */
export function encodeTexts(texts: readonly (string | null)[]): Utf8Texts {
  return encodedAtOnce(texts) ?? encodedEach(texts);
}

/** One call for all of them; null where they are not plain ASCII, or too much for one string. */
function encodedAtOnce(texts: readonly (string | null)[]): Utf8Texts | null {
  const offsets = new Int32Array(texts.length + 1);
  let length = 0;
  for (let i = 0; i < texts.length; i++) {
    length += texts[i]?.length ?? 0;
    if (length > MAX_AT_ONCE) return null;
    offsets[i + 1] = length;
  }
  const bytes = encoder.encode(texts.join(''));
  // As many bytes as characters: ASCII, and the lengths of the strings are those of the bytes.
  return bytes.length === length ? { offsets, bytes, illFormed: {} } : null;
}

function encodedEach(texts: readonly (string | null)[]): Utf8Texts {
  const offsets = new Int32Array(texts.length + 1);
  const illFormed: Record<number, string> = {};
  let bytes = new Uint8Array(Math.max(1024, texts.length * 16));
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i] ?? '';
    const start = offsets[i];
    // A UTF-16 code unit takes at most three bytes of UTF-8.
    if (bytes.length - start < text.length * 3) bytes = grown(bytes, start + text.length * 3);
    const end = start + encoder.encodeInto(text, bytes.subarray(start)).written;
    if (end > MAX_BYTES) throw new RangeError(`the texts of one column may take ${MAX_BYTES} bytes, these take more`);
    offsets[i + 1] = end;
    if (!text.isWellFormed()) illFormed[i] = text;
  }
  return { offsets, bytes: bytes.subarray(0, offsets[texts.length]), illFormed };
}

function grown(bytes: Uint8Array<ArrayBuffer>, atLeast: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(bytes.length * 2, atLeast));
  larger.set(bytes);
  return larger;
}

/** The texts again. Throws where the bytes are not UTF-8 or the offsets do not rise. */
export function decodeTexts({ offsets, bytes, illFormed }: Utf8Texts): string[] {
  const count = Math.max(offsets.length - 1, 0);
  const used = bytes.subarray(0, offsets[count] ?? 0);
  const whole = used.length <= MAX_AT_ONCE ? decoder.decode(used) : null;
  const texts = new Array<string>(count);
  if (whole?.length === used.length) {
    // As many characters as bytes: ASCII, and the offsets hold for the string too.
    for (let i = 0; i < count; i++) texts[i] = whole.slice(offsets[i], offsets[i + 1]);
  } else {
    for (let i = 0; i < count; i++) texts[i] = decoder.decode(bytes.subarray(offsets[i], offsets[i + 1]));
  }
  for (const [i, text] of Object.entries(illFormed)) texts[Number(i)] = text;
  return texts;
}
