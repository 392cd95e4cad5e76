import {
  type Data,
  Dictionary,
  Field,
  Float32,
  Float64,
  Int32,
  List,
  makeData,
  Struct,
  Uint64,
  Utf8,
  Vector,
} from 'apache-arrow';
import { areFinite } from '#lib/numeric';
import { encodeTexts } from './utf8.js';

/** A named Arrow column and what its field says beside its type. */
export interface ArrowColumn {
  readonly name: string;
  readonly data: Data;
  readonly metadata: ReadonlyMap<string, string>;
}

/** Field metadata: the texts of a column that UTF-8 cannot say, as JSON by index. */
export const ILL_FORMED = 'recredit.illFormed';

const NOTHING: ReadonlyMap<string, string> = new Map();

/** Numbers; NaN stays in the values and is null to other readers. */
export function numberColumn(name: string, values: Float64Array | Float32Array, metadata = NOTHING): ArrowColumn {
  const type = values instanceof Float32Array ? new Float32() : new Float64();
  const nulls = areFinite(values) ? ALL_SAID : validity(values.length, (i) => !Number.isNaN(values[i]));
  return { name, metadata, data: makeData({ type, length: values.length, data: values, ...nulls } as never) };
}

/** Integers; -1 stays in the values and is null to other readers. */
export function intColumn(name: string, values: Int32Array): ArrowColumn {
  const nulls = values.includes(-1) ? validity(values.length, (i) => values[i] !== -1) : ALL_SAID;
  const data = makeData({ type: new Int32(), length: values.length, data: values, ...nulls });
  return { name, metadata: NOTHING, data };
}

/** Texts that are mostly distinct. */
export function textColumn(name: string, texts: readonly (string | null)[]): ArrowColumn {
  const { data, metadata } = utf8Data(texts);
  return { name, metadata, data };
}

/** Texts that repeat: keys into the distinct ones. Key -1 is null. */
export function keyedTextColumn(
  name: string,
  keys: Int32Array,
  texts: readonly string[],
  dictionaryId: number,
  metadata = NOTHING,
): ArrowColumn {
  const values = utf8Data(texts.length > 0 ? texts : ['']);
  return {
    name,
    metadata: new Map([...metadata, ...values.metadata]),
    data: keyedData(keys, values.data, new Utf8(), dictionaryId),
  };
}

/** Hashes of texts that repeat: keys into the distinct ones. Key -1 is null. */
export function keyedHashColumn(
  name: string,
  keys: Int32Array,
  hashes: BigUint64Array,
  dictionaryId: number,
): ArrowColumn {
  const values = hashes.length > 0 ? hashes : new BigUint64Array(1);
  const data = makeData({ type: new Uint64(), length: values.length, nullCount: 0, data: values });
  return { name, metadata: NOTHING, data: keyedData(keys, data, new Uint64(), dictionaryId) };
}

/** Rows `offsets[i] .. offsets[i + 1] - 1` of the columns as element i: CSR is how Arrow lays out lists. */
export function listColumn(name: string, offsets: Int32Array, columns: readonly ArrowColumn[]): ArrowColumn {
  const child = structData(columns, offsets[offsets.length - 1]);
  return { name, metadata: NOTHING, data: listData(offsets, new Field('item', child.type, false), child) };
}

/** The values of a column as lists. */
export function valueListColumn({ name, data, metadata }: ArrowColumn, offsets: Int32Array): ArrowColumn {
  return { name, metadata, data: listData(offsets, new Field('item', data.type, true), data) };
}

function listData(offsets: Int32Array, item: Field, child: Data): Data {
  return makeData({ type: new List(item), length: offsets.length - 1, nullCount: 0, valueOffsets: offsets, child });
}

export function structData(columns: readonly ArrowColumn[], length: number): Data<Struct> {
  const fields = columns.map(({ name, data, metadata }) => new Field(name, data.type, true, new Map(metadata)));
  const children = columns.map(({ data }) => data);
  return makeData({ type: new Struct(fields), length, nullCount: 0, children });
}

/** Counts from 0: dictionary ids must not come from Arrow's own counter, which a process never resets. */
export function counter(): () => number {
  let next = 0;
  return () => next++;
}

function utf8Data(texts: readonly (string | null)[]) {
  const { offsets, bytes, illFormed } = encodeTexts(texts);
  const nulls = texts.includes(null) ? validity(texts.length, (i) => texts[i] !== null) : ALL_SAID;
  const data = makeData({ type: new Utf8(), length: texts.length, valueOffsets: offsets, data: bytes, ...nulls });
  const said = Object.keys(illFormed).length > 0;
  return { data, metadata: said ? new Map([[ILL_FORMED, JSON.stringify(illFormed)]]) : NOTHING };
}

/** Polars looks at keys under a null too and accepts no -1, so that key is written as 0. */
function keyedData(keys: Int32Array, values: Data, valueType: Utf8 | Uint64, dictionaryId: number): Data {
  const nulls = keys.includes(-1) ? validity(keys.length, (i) => keys[i] !== -1) : ALL_SAID;
  return makeData({
    type: new Dictionary(valueType, new Int32(), dictionaryId, false),
    length: keys.length,
    data: nulls.nullCount > 0 ? keys.map((key) => Math.max(key, 0)) : keys,
    dictionary: new Vector([values]),
    ...nulls,
  } as never);
}

/** The usual case, told without a call per value. */
const ALL_SAID = { nullCount: 0 };

/** Arrow's validity bitmap, made only where something is missing. */
function validity(length: number, isSaid: (i: number) => boolean): { nullCount: number; nullBitmap?: Uint8Array } {
  let nullBitmap: Uint8Array | undefined;
  let nullCount = 0;
  for (let i = 0; i < length; i++) {
    if (isSaid(i)) continue;
    nullBitmap ??= allSaid(length);
    nullBitmap[i >> 3] &= ~(1 << (i & 7));
    nullCount++;
  }
  return nullBitmap ? { nullCount, nullBitmap } : { nullCount };
}

function allSaid(length: number): Uint8Array {
  const bitmap = new Uint8Array((length + 7) >> 3).fill(255);
  if (length & 7) bitmap[bitmap.length - 1] = (1 << (length & 7)) - 1;
  return bitmap;
}
