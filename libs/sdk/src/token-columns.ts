import { overflowingToken, tokenCount, tokenNumbers, type TokenColumn } from '#lib/protocol';
import { Unsendable } from './plain.js';

/** One entry per token: numbers (NaN and null: not available), floats of any width, or any JSON. */
export type TokenValues = readonly unknown[] | TypedNumbers | { readonly f32: string } | { readonly f16: string };

type TypedNumbers =
  Float32Array | Float64Array | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array;

/** Token columns as the protocol has them: typed floats in base64, everything else as it is. */
export function tokenColumns(columns: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const sent: [string, unknown][] = [];
  let first: { name: string; count: number } | null = null;
  for (const name of Object.keys(columns)) {
    const column = columns[name];
    if (column === undefined) continue;
    const { value, count } = tokenColumn(column, name);
    sent.push([name, value]);
    if (count === null) continue;
    first ??= { name, count };
    if (count !== first.count) {
      throw new Unsendable(`${first.count} entries, as ${first.name} has (one per token)`, String(count), `/${name}`);
    }
  }
  return Object.fromEntries(sent);
}

/** One column, and its number of tokens (null: no column at all, which the event's schema will say). */
export function tokenColumn(column: unknown, name: string): { value: unknown; count: number | null } {
  if (Array.isArray(column)) return { value: fitting(column, name), count: column.length };
  if (isFloats(column)) return { value: base64Of(column, name), count: column.length };
  if (ArrayBuffer.isView(column) && !(column instanceof DataView)) {
    const numbers = fitting(Array.from(column as unknown as Iterable<number>), name);
    return { value: numbers, count: numbers.length };
  }
  if (isEncoded(column)) return { value: column, count: encodedCount(column, name) };
  return { value: column, count: null };
}

function fitting<T extends readonly unknown[]>(tokens: T, name: string): T {
  const at = overflowingToken(tokens);
  if (at < 0) return tokens;
  throw new Unsendable('a number that fits into a float32', String(tokens[at]), `/${name}/${at}`);
}

function isFloats(column: unknown): column is Float32Array | Float64Array {
  return column instanceof Float32Array || column instanceof Float64Array;
}

/** Tokens are kept as float32 on the other side, so float64 loses nothing here that it would keep there. */
function base64Of(column: Float32Array | Float64Array, name: string): { f32: string } {
  const floats = column instanceof Float32Array ? column : Float32Array.from(column);
  refuseInfinity(floats, name);
  return { f32: Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength).toString('base64') };
}

function isEncoded(column: unknown): column is Extract<TokenColumn, object> {
  if (typeof column !== 'object' || column === null) return false;
  const { f32, f16 } = column as { f32?: unknown; f16?: unknown };
  return typeof f32 === 'string' || typeof f16 === 'string';
}

function encodedCount(column: TokenColumn, name: string): number {
  const count = tokenCount(column);
  if (Number.isNaN(count)) throw new Unsendable('base64 of whole little-endian floats', 'something else', `/${name}`);
  refuseInfinity(tokenNumbers(column)!, name);
  return count;
}

function refuseInfinity(floats: Float32Array, name: string): void {
  for (let i = 0; i < floats.length; i++) {
    if (floats[i] === Infinity || floats[i] === -Infinity) {
      throw new Unsendable('a finite number', String(floats[i]), `/${name}/${i}`);
    }
  }
}
