import type { TokenColumn } from './fields.js';

/** From here on a number rounds to an infinite float32: half a step above the largest finite one. */
const FLOAT32_END = 2 ** 128 - 2 ** 103;
const FLOAT_BYTES = { f32: 4, f16: 2 } as const;

/** Numbers of a token column, NaN for null; null where the column holds texts, lists or vectors. */
export function tokenNumbers(column: TokenColumn): Float32Array | null {
  if ('f32' in column) return floatsOf(column.f32, 'f32');
  if ('f16' in column) return floatsOf(column.f16, 'f16');
  const values = new Float32Array(column.length);
  for (let i = 0; i < column.length; i++) {
    const value = column[i];
    if (value === null) values[i] = NaN;
    else if (typeof value === 'number') values[i] = value;
    else if (typeof value === 'boolean') values[i] = Number(value);
    else return null;
  }
  return values;
}

/** Number of tokens of a column, or NaN where its base64 cannot be read. */
export function tokenCount(column: TokenColumn): number {
  if ('f32' in column) return bytesOf(column.f32, 'f32') / FLOAT_BYTES.f32;
  if ('f16' in column) return bytesOf(column.f16, 'f16') / FLOAT_BYTES.f16;
  return column.length;
}

/** The first of some tokens that is a number and fits into no float32; -1: there is none. */
export function overflowingToken(tokens: readonly unknown[]): number {
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (typeof token === 'number' && (token >= FLOAT32_END || token <= -FLOAT32_END)) return i;
  }
  return -1;
}

function bytesOf(base64: string, kind: 'f32' | 'f16'): number {
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return NaN;
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  const bytes = (base64.length / 4) * 3 - padding;
  return bytes % FLOAT_BYTES[kind] === 0 ? bytes : NaN;
}

function floatsOf(base64: string, kind: 'f32' | 'f16'): Float32Array {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = FLOAT_BYTES[kind];
  const read =
    kind === 'f32' ? (at: number) => view.getFloat32(at, true) : (at: number) => halfFloat(view.getUint16(at, true));
  return Float32Array.from({ length: bytes.byteLength / size }, (_, i) => read(i * size));
}

/** IEEE 754 binary16 to a number. */
function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
