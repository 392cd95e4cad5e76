import { Dictionary, Field, Float64, Int32, RecordBatch, RecordBatchStreamWriter, Schema, Utf8 } from 'apache-arrow';
import { intColumn, keyedTextColumn, numberColumn, structData, type ArrowColumn } from './arrow-columns.js';
import { concatBytes } from './concat-bytes.js';

/** A column of a stream. Its name and type are fixed before the first row is seen. */
export interface StreamColumn {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'number';
}

/** Text by keys into the distinct ones; key or integer -1 and NaN: not said. */
export interface KeyedTexts {
  readonly keys: Int32Array;
  readonly texts: readonly string[];
}

export type StreamValues = KeyedTexts | Int32Array | Float64Array | Float32Array;

/** Some rows of a stream, by column name. A column that is not there was not said. */
export interface StreamRows {
  readonly rows: number;
  readonly values: ReadonlyMap<string, StreamValues>;
}

/**
 * An Arrow IPC stream, in chunks: the schema first, so that an empty stream is one too, then one record batch for each of
 * `batches`. The next batch is asked for when the one before has been taken, so no more than one is held.
 */
export async function* arrowStream(
  columns: readonly StreamColumn[],
  batches: AsyncIterable<StreamRows> | Iterable<StreamRows>,
): AsyncGenerator<Uint8Array> {
  const schema = new Schema(columns.map(fieldOf));
  const writer = new ChunkWriter();
  writer.begin(schema);
  yield writer.take();
  for await (const { rows, values } of batches) {
    if (rows === 0) continue;
    const data = columns.map((column, id) => streamColumn(column, id, rows, values.get(column.name)));
    writer.write(new RecordBatch(schema, structData(data, rows)));
    yield writer.take();
  }
  writer.finish();
  yield writer.take();
}

/** Keeps what it writes until it is taken. Arrow's own queue gives its chunks only to a reader that runs beside it. */
class ChunkWriter extends RecordBatchStreamWriter {
  private chunks: Uint8Array[] = [];

  begin(schema: Schema): void {
    this.reset(undefined, schema);
  }

  /** What was written since the last time, in one piece: Arrow writes dozens of small ones. */
  take(): Uint8Array {
    const taken = concatBytes(this.chunks);
    this.chunks = [];
    return taken;
  }

  protected override _write(chunk: ArrayBufferView): this {
    if (chunk.byteLength > 0) this.chunks.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    return this;
  }
}

function fieldOf({ name, type }: StreamColumn, id: number): Field {
  if (type === 'text') return new Field(name, new Dictionary(new Utf8(), new Int32(), id, false), true);
  return new Field(name, type === 'integer' ? new Int32() : new Float64(), true);
}

function streamColumn(
  { name, type }: StreamColumn,
  id: number,
  rows: number,
  values: StreamValues | undefined,
): ArrowColumn {
  if (type === 'text') {
    const { keys, texts } = values && 'keys' in values && 'texts' in values ? values : NOBODY(rows);
    return keyedTextColumn(name, keys, texts, id);
  }
  if (type === 'integer') {
    return intColumn(name, values instanceof Int32Array ? values : new Int32Array(rows).fill(-1));
  }
  if (values instanceof Float64Array) return numberColumn(name, values);
  return numberColumn(
    name,
    values instanceof Float32Array ? Float64Array.from(values) : new Float64Array(rows).fill(NaN),
  );
}

const NOBODY = (rows: number): KeyedTexts => ({ keys: new Int32Array(rows).fill(-1), texts: [] });
