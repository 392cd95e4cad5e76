import { type Data, DataType, type Field, type List, type Struct } from 'apache-arrow';
import { ILL_FORMED } from './arrow-columns.js';
import { decodeTexts } from './utf8.js';

/** A column as it lies in the file. */
export interface ReadColumn {
  readonly field: Field;
  readonly data: Data;
}

export type ReadColumns = ReadonlyMap<string, ReadColumn>;

/** The columns of a struct by name. Each one has the length of the struct. */
export function columnsOf(struct: Data<Struct>): ReadColumns {
  const { children, type, length } = struct;
  return new Map(
    type.children.map((field, i) => {
      if (children[i]?.length !== length) throw new Error(`${field.name} should have ${length} rows`);
      return [field.name, { field, data: children[i] }];
    }),
  );
}

export function columnNamed(columns: ReadColumns, name: string): ReadColumn {
  const column = columns.get(name);
  if (!column) throw new Error(`there is no column ${name}`);
  return column;
}

/** A view of the numbers. */
export function numbersOf({ field, data }: ReadColumn): Float64Array | Float32Array {
  const { values } = data as { values: unknown };
  if (values instanceof Float64Array || values instanceof Float32Array) return whole(field, values, data.length);
  throw new Error(`${field.name} should hold floats`);
}

export function doublesOf(column: ReadColumn): Float64Array {
  const values = numbersOf(column);
  if (values instanceof Float64Array) return values;
  throw new Error(`${column.field.name} should hold float64`);
}

/** A view of the integers, each in `range`: the least, and the first beyond the greatest. */
export function intsOf({ field, data }: ReadColumn, range?: readonly [from: number, below: number]): Int32Array {
  const { values } = data as { values: unknown };
  if (!(values instanceof Int32Array)) throw new Error(`${field.name} should hold int32`);
  const ints = whole(field, values, data.length);
  return range ? within(field, ints, ...range) : ints;
}

/** Keys into the dictionary of a column: a view, and a copy only where -1 stands for a null. */
export function keysOf(column: ReadColumn): Int32Array {
  const { data } = column;
  const keys = intsOf(column, [0, dictionaryOf(column).length]);
  return data.nullCount > 0 ? keys.map((key, i) => (data.getValid(i) ? key : -1)) : keys;
}

/** How many distinct texts lie behind the keys; none where no row has one. */
export function keyCountOf(column: ReadColumn): number {
  return isEmpty(column.data) ? 0 : dictionaryOf(column).length;
}

/** The distinct texts behind the keys; none where no row has one. */
export function keyedTextsOf(column: ReadColumn): string[] {
  return isEmpty(column.data) ? [] : decoded(column.field, dictionaryOf(column));
}

/** The distinct hashes behind the keys, a view; none where no row has one. */
export function keyedHashesOf(column: ReadColumn): BigUint64Array {
  const { values, length } = dictionaryOf(column) as { values: unknown; length: number };
  if (!(values instanceof BigUint64Array)) throw new Error(`${column.field.name} should hold uint64`);
  return isEmpty(column.data) ? values.subarray(0, 0) : whole(column.field, values, length);
}

/** Text per row, null where there is none. */
export function textsOf(column: ReadColumn): (string | null)[] {
  const { field, data } = column;
  if (DataType.isDictionary(data.type)) {
    const texts = keyedTextsOf(column);
    return Array.from(keysOf(column), (key) => (key < 0 ? null : texts[key]));
  }
  if (isEmpty(data)) return new Array<null>(data.length).fill(null);
  const texts: (string | null)[] = decoded(field, data);
  if (data.nullCount > 0) for (let i = 0; i < texts.length; i++) if (!data.getValid(i)) texts[i] = null;
  return texts;
}

/** The offsets of a list, a view, and the columns of its elements. */
export function listOf(column: ReadColumn): { offsets: Int32Array; columns: ReadColumns } {
  const { offsets, item } = valueListOf(column);
  if (!DataType.isStruct(item.data.type)) throw new Error(`${column.field.name} should be a list of structs`);
  return { offsets, columns: columnsOf(item.data as Data<Struct>) };
}

/** The offsets of a list, a view, and its values one after another. */
export function valueListOf({ field, data }: ReadColumn): { offsets: Int32Array; item: ReadColumn } {
  if (!DataType.isList(data.type)) throw new Error(`${field.name} should be a list`);
  const child = (data as Data<List>).children[0];
  const offsets = offsetsOf(field, data);
  if (offsets[0] !== 0 || offsets[data.length] !== child.length) {
    throw new Error(
      `${field.name} should cover ${child.length} rows, and covers ${offsets[0]}..${offsets[data.length]}`,
    );
  }
  return { offsets, item: { field, data: child } };
}

function offsetsOf(field: Field, data: Data): Int32Array {
  const offsets: unknown = data.valueOffsets;
  if (!(offsets instanceof Int32Array)) throw new Error(`${field.name} should have int32 offsets`);
  const used = whole(field, offsets, data.length + 1);
  if (doRise(used)) return used;
  const at = used.findIndex((offset, i) => offset < 0 || (i > 0 && offset < used[i - 1]));
  throw new Error(`the offsets of ${field.name} fall at ${at}`);
}

function decoded(field: Field, data: Data): string[] {
  const { values } = data as { values: unknown };
  const offsets = offsetsOf(field, data);
  if (!(values instanceof Uint8Array) || offsets[0] < 0 || offsets[data.length] > values.length) {
    throw new Error(`${field.name} should hold ${data.length} texts`);
  }
  const illFormed = JSON.parse(field.metadata.get(ILL_FORMED) ?? '{}') as Record<number, string>;
  return decodeTexts({ offsets, bytes: values, illFormed });
}

function dictionaryOf({ field, data }: ReadColumn): Data {
  const dictionary = DataType.isDictionary(data.type) ? data.dictionary?.data[0] : undefined;
  if (!dictionary) throw new Error(`${field.name} should have a dictionary`);
  return dictionary;
}

function isEmpty(data: Data): boolean {
  return data.nullCount === data.length;
}

/** Buffers are padded, so they may be longer than their column; shorter ones are damaged. */
function whole<T extends { length: number; subarray(from: number, to: number): T }>(
  field: Field,
  values: T,
  length: number,
): T {
  if (values.length < length) throw new Error(`${field.name} should have ${length} values and has ${values.length}`);
  return values.subarray(0, length);
}

function within(field: Field, values: Int32Array, from: number, below: number): Int32Array {
  if (areWithin(values, from, below)) return values;
  const at = values.findIndex((value) => value < from || value >= below);
  if (at < 0) return values;
  throw new Error(`${field.name} says ${values[at]} at ${at}`);
}

// Every column of every segment is looked at here, so nothing is asked of a single value: differences that ought to be
// zero or more are or-ed together, and the sign bit tells.

/** @returns false also where a difference overflows */
function areWithin(values: Int32Array, from: number, below: number): boolean {
  const most = below - 1;
  let signs = 0;
  for (let i = 0; i < values.length; i++) signs |= (values[i] - from) | (most - values[i]);
  return signs >= 0;
}

function doRise(offsets: Int32Array): boolean {
  let [signs, before] = [0, 0];
  for (let i = 0; i < offsets.length; i++) {
    signs |= offsets[i] | (offsets[i] - before);
    before = offsets[i];
  }
  return signs >= 0;
}
