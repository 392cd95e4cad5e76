/**
 * Looks at a JSON value in bytes and makes nothing of it. What says yes is certain; what says no need not be wrong, it
 * may only be unusual: whoever asked parses it and looks again.
 *
 * @param bytes UTF-8
 * @param at where the value begins
 * @param levels how many lists and objects may still open inside each other
 * @returns where the value ends; -1: not certain that it is what was wanted
 */
export type Scan = (bytes: Uint8Array, at: number, levels: number) => number;

export const UNSURE = -1;

const [QUOTE, MINUS, PLUS, POINT, COMMA, COLON, BACKSLASH] = [0x22, 0x2d, 0x2b, 0x2e, 0x2c, 0x3a, 0x5c];
const [OPENS_LIST, CLOSES_LIST, OPENS_OBJECT, CLOSES_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [ZERO, NINE, LOWER_CASE] = [0x30, 0x39, 0x20];
const [LOWER_D, LOWER_E, LOWER_F, LOWER_N, LOWER_T, LOWER_U] = [0x64, 0x65, 0x66, 0x6e, 0x74, 0x75];

/** What stands for itself in a string. [256] */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH),
);
/** What no control character contains: DEL is one, and those from U+0080 on begin with 0xc2. [256] */
const NO_CONTROL = PLAIN.map((plain, byte) => (byte === 0x7f || byte === 0xc2 ? 0 : plain));
/** What may follow a backslash; after u come four of the next. [256] */
const ESCAPED = tableOf('"\\/bfnrtu');
const HEXADECIMAL = tableOf('0123456789abcdefABCDEF');
/** Between values; a newline is between events. [256] */
const SPACE = tableOf(' \t\r');

/** More digits than these, or a longer exponent, might be infinite. */
const MAX_DIGITS = 200;
const MAX_EXPONENT_DIGITS = 2;
/** Integers of so many digits are exact. */
const MAX_INTEGER_DIGITS = 15;

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

export function skipSpace(bytes: Uint8Array, at: number): number {
  while (SPACE[bytes[at]] === 1) at++;
  return at;
}

export const text: Scan = (bytes, at) => {
  if (bytes[at] !== QUOTE) return UNSURE;
  for (at++; ; at += 2) {
    while (PLAIN[bytes[at]] === 1) at++;
    if (bytes[at] === QUOTE) return at + 1;
    if (bytes[at] !== BACKSLASH || ESCAPED[bytes[at + 1]] !== 1) return UNSURE;
    if (bytes[at + 1] !== LOWER_U) continue;
    for (let i = 2; i < 6; i++) if (HEXADECIMAL[bytes[at + i]] !== 1) return UNSURE;
  }
};

/** Text without escapes. @param most bytes: characters are no more than these */
export const unescaped = (least: 0 | 1, most: number) => plainText(PLAIN, least, most);

/** The same without control characters. */
export const name = (least: 0 | 1, most: number) => plainText(NO_CONTROL, least, most);

function plainText(allowed: Uint8Array, least: 0 | 1, most: number): Scan {
  return (bytes, at) => {
    if (bytes[at] !== QUOTE) return UNSURE;
    const start = ++at;
    while (allowed[bytes[at]] === 1) at++;
    return bytes[at] === QUOTE && at - start >= least && at - start <= most ? at + 1 : UNSURE;
  };
}

/** `2026-11-21T12:00:00.000Z`, or with an offset such as `+01:00`. */
export const instant: Scan = (bytes, at) => {
  at = shaped(bytes, at, '"dddd-dd-ddTdd:dd:dd');
  if (at >= 0 && bytes[at] === POINT) {
    const end = digits(bytes, at + 1);
    at = end - at > 1 && end - at <= 10 ? end : UNSURE;
  }
  if (at < 0) return UNSURE;
  if (bytes[at] === PLUS || bytes[at] === MINUS) return shaped(bytes, at + 1, 'dd:dd"');
  return shaped(bytes, at, 'Z"');
};

/** @param shape `d` is any digit, all else is itself */
function shaped(bytes: Uint8Array, at: number, shape: string): number {
  for (let i = 0; i < shape.length; i++) {
    const wanted = shape.charCodeAt(i);
    if (wanted === LOWER_D ? !isDigit(bytes[at + i]) : bytes[at + i] !== wanted) return UNSURE;
  }
  return at + shape.length;
}

const isDigit = (byte: number) => byte >= ZERO && byte <= NINE;

function digits(bytes: Uint8Array, at: number): number {
  while (isDigit(bytes[at])) at++;
  return at;
}

/** Where the part before point and exponent ends. */
function whole(bytes: Uint8Array, at: number, mostDigits: number): number {
  const start = bytes[at] === MINUS ? at + 1 : at;
  if (bytes[start] === ZERO) return start + 1;
  const end = digits(bytes, start);
  return end > start && end - start <= mostDigits ? end : UNSURE;
}

/** Finite. */
export const number: Scan = (bytes, at) => {
  at = whole(bytes, at, MAX_DIGITS);
  if (at >= 0 && bytes[at] === POINT) {
    const end = digits(bytes, at + 1);
    at = end > at + 1 ? end : UNSURE;
  }
  if (at >= 0 && (bytes[at] | LOWER_CASE) === LOWER_E) {
    const start = bytes[at + 1] === PLUS || bytes[at + 1] === MINUS ? at + 2 : at + 1;
    const end = digits(bytes, start);
    at = end > start && end - start <= MAX_EXPONENT_DIGITS ? end : UNSURE;
  }
  return at;
};

/** Written without point and exponent, both ends included. */
export function integer(least: number, most: number): Scan {
  return (bytes, at) => {
    const end = whole(bytes, at, MAX_INTEGER_DIGITS);
    if (end < 0 || bytes[end] === POINT || (bytes[end] | LOWER_CASE) === LOWER_E) return UNSURE;
    const value = integerAt(bytes, at, end);
    return value >= least && value <= most ? end : UNSURE;
  };
}

/** The value of an integer that was scanned. */
export function integerAt(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === MINUS;
  let value = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at++) value = value * 10 + bytes[at] - ZERO;
  return isNegative ? -value : value;
}

/** This value and no other, as `JSON.stringify` writes it. */
export function exactly(value: string | number | boolean | null): Scan {
  const wanted = new TextEncoder().encode(JSON.stringify(value));
  return (bytes, at) => (startsWith(bytes, at, wanted) ? at + wanted.length : UNSURE);
}

function startsWith(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

/** What one of them is certain of. */
export function oneOf(scans: readonly Scan[]): Scan {
  if (scans.length === 1) return scans[0];
  return (bytes, at, levels) => {
    for (const scan of scans) {
      const end = scan(bytes, at, levels);
      if (end >= 0) return end;
    }
    return UNSURE;
  };
}

export function list(item: Scan, most = Infinity): Scan {
  return (bytes, at, levels) => {
    if (bytes[at] !== OPENS_LIST || levels === 0) return UNSURE;
    at = skipSpace(bytes, at + 1);
    if (bytes[at] === CLOSES_LIST) return at + 1;
    for (let count = 1; count <= most; count++) {
      at = item(bytes, at, levels - 1);
      if (at < 0) return UNSURE;
      at = skipSpace(bytes, at);
      if (bytes[at] === CLOSES_LIST) return at + 1;
      if (bytes[at] !== COMMA) return UNSURE;
      at = skipSpace(bytes, at + 1);
    }
    return UNSURE;
  };
}

/** Any names with values of one kind. A name that comes twice is counted twice. */
export function record(nameOf: Scan, value: Scan, most = Infinity): Scan {
  return (bytes, at, levels) => {
    if (bytes[at] !== OPENS_OBJECT || levels === 0) return UNSURE;
    at = skipSpace(bytes, at + 1);
    if (bytes[at] === CLOSES_OBJECT) return at + 1;
    for (let count = 1; count <= most; count++) {
      at = valueAfter(bytes, nameOf(bytes, at, 0), value, levels);
      if (at < 0) return UNSURE;
      if (bytes[at] === CLOSES_OBJECT) return at + 1;
      if (bytes[at] !== COMMA) return UNSURE;
      at = skipSpace(bytes, at + 1);
    }
    return UNSURE;
  };
}

/** What may stand in an object of known fields. */
export interface Fields {
  readonly known: Readonly<Record<string, Scan>>;
  readonly required: readonly string[];
  /** of all other fields; null: there are none */
  readonly others: Scan | null;
}

const ANY_NAME = unescaped(0, Infinity);

/** Of a field that comes twice both must be what is wanted: the parser takes the last. */
export function object({ known, required, others }: Fields): Scan {
  const names = Object.keys(known);
  if (names.length > 31) throw new TypeError(`a scan knows up to 31 fields, found ${names.length}`);
  const keys = names.map((each) => new TextEncoder().encode(JSON.stringify(each)));
  const values = Object.values(known);
  const wanted = required.reduce((bits, each) => bits | (1 << names.indexOf(each)), 0);

  return (bytes, at, levels) => {
    if (bytes[at] !== OPENS_OBJECT || levels === 0) return UNSURE;
    at = skipSpace(bytes, at + 1);
    if (bytes[at] === CLOSES_OBJECT) return wanted === 0 ? at + 1 : UNSURE;
    let seen = 0;
    let field = -1;
    for (;;) {
      field = fieldAt(bytes, at, keys, field + 1);
      if (field >= 0) {
        seen |= 1 << field;
        at = valueAfter(bytes, at + keys[field].length, values[field], levels);
      } else {
        if (!others) return UNSURE;
        at = valueAfter(bytes, ANY_NAME(bytes, at, 0), others, levels);
      }
      if (at < 0) return UNSURE;
      if (bytes[at] === CLOSES_OBJECT) return (seen & wanted) === wanted ? at + 1 : UNSURE;
      if (bytes[at] !== COMMA) return UNSURE;
      at = skipSpace(bytes, at + 1);
    }
  };
}

/** Which key stands here; -1: none of them. Those after the last one first: fields come in the same order mostly. */
function fieldAt(bytes: Uint8Array, at: number, keys: readonly Uint8Array[], first: number): number {
  for (let i = first; i < keys.length; i++) if (startsWith(bytes, at, keys[i])) return i;
  for (let i = 0; i < first && i < keys.length; i++) if (startsWith(bytes, at, keys[i])) return i;
  return -1;
}

/** @returns where the next comma or the closing brace stands */
function valueAfter(bytes: Uint8Array, endOfName: number, value: Scan, levels: number): number {
  if (endOfName < 0) return UNSURE;
  const at = skipSpace(bytes, endOfName);
  if (bytes[at] !== COLON) return UNSURE;
  const end = value(bytes, skipSpace(bytes, at + 1), levels - 1);
  return end < 0 ? UNSURE : skipSpace(bytes, end);
}

const [yes, no, nothing] = [exactly(true), exactly(false), exactly(null)];

/** Any JSON. */
export const json: Scan = (bytes, at, levels) => {
  switch (bytes[at]) {
    case QUOTE:
      return text(bytes, at, levels);
    case OPENS_OBJECT:
      return anyObject(bytes, at, levels);
    case OPENS_LIST:
      return anyList(bytes, at, levels);
    case LOWER_T:
      return yes(bytes, at, levels);
    case LOWER_F:
      return no(bytes, at, levels);
    case LOWER_N:
      return nothing(bytes, at, levels);
    default:
      return number(bytes, at, levels);
  }
};

const anyList = list(json);
const anyObject = record(ANY_NAME, json);
