import { type Data, RecordBatch, RecordBatchFileWriter, RecordBatchReader, Schema, type Struct } from 'apache-arrow';
import { messageOf, RecreditError } from '#lib/kernel';
import { structData, type ArrowColumn } from './arrow-columns.js';
import { checksum } from './checksum.js';
import { concatBytes, type Allocate } from './concat-bytes.js';

/** Schema metadata: what kind of file this is, and the version of its layout. */
const FORMAT = 'recredit.format';
const MAGIC = 'ARROW1';
/** Behind the footer: its length as int32, then the magic. */
const TAIL_BYTES = 4 + MAGIC.length;
const CHECKSUM_BYTES = 8;

export interface ArrowFile {
  readonly root: Data<Struct>;
  readonly metadata: ReadonlyMap<string, string>;
}

/**
 * One Arrow IPC file of one record batch, with a checksum before the footer, where no reader looks. The same columns give
 * the same bytes on every machine.
 */
export function writeArrowFile(
  format: string,
  columns: readonly ArrowColumn[],
  rows: number,
  metadata: ReadonlyMap<string, string> = new Map(),
  allocate?: Allocate,
): Uint8Array {
  const root = structData(columns, rows);
  const schema = new Schema(root.type.children, new Map([[FORMAT, format], ...metadata]));
  const writer = new FileWriter();
  writer.write(new RecordBatch(schema, root));
  writer.finish();
  return withChecksum(concatBytes([...writer.chunks, new Uint8Array(CHECKSUM_BYTES)], allocate));
}

/** Arrow's own join takes views of the same bytes for one: a column that is written twice would be there once. */
class FileWriter extends RecordBatchFileWriter {
  readonly chunks: Uint8Array[] = [];

  protected override _write(chunk: ArrayBufferView): this {
    if (chunk.byteLength > 0) this.chunks.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    return super._write(chunk);
  }
}

/**
 * Opens such a file; the columns view its bytes.
 *
 * @throws RecreditError `segment.damaged` where it is not one, or not whole
 */
export function openArrowFile(format: string, bytes: Uint8Array): ArrowFile {
  return orDamaged(`Arrow file ${format}`, () => {
    // Typed arrays view the file only where it begins at a multiple of eight.
    const aligned = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
    // Arrow's reader does not check what it reads: a wrong length can keep it busy for ever.
    assertChecksum(aligned);
    const batches = [...RecordBatchReader.from(aligned)];
    if (batches.length !== 1) throw new Error(`it should hold one record batch and holds ${batches.length}`);
    const { metadata } = batches[0].schema;
    if (metadata.get(FORMAT) !== format) throw new Error(`it says that it is ${metadata.get(FORMAT) ?? 'nothing'}`);
    return { root: batches[0].data, metadata };
  });
}

/** Whatever goes wrong inside is said to be the file's fault. */
export function orDamaged<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RecreditError) throw error;
    throw new RecreditError('segment.damaged', `${what} is damaged: ${messageOf(error)}`, {}, { cause: error });
  }
}

/**
 * A multiple of eight bytes is put in before the footer, so that all alignments stay.
 *
 * @param padded a file, and as many bytes more; changed in place
 */
function withChecksum(padded: Uint8Array): Uint8Array {
  const file = padded.subarray(0, -CHECKSUM_BYTES);
  const at = footerStart(file);
  const sum = checksum([file.subarray(0, at), file.subarray(at)]);
  padded.copyWithin(at + CHECKSUM_BYTES, at, file.length);
  viewOf(padded).setBigUint64(at, sum, true);
  return padded;
}

function assertChecksum(file: Uint8Array): void {
  const footer = endsInMagic(file) ? footerStart(file) : 0;
  const at = footer - CHECKSUM_BYTES;
  if (at < MAGIC.length || footer > file.length)
    throw new Error(`its ${file.length} bytes do not end as Arrow files do`);
  if (viewOf(file).getBigUint64(at, true) !== checksum([file.subarray(0, at), file.subarray(footer)])) {
    throw new Error('its checksum does not agree with its bytes');
  }
}

function endsInMagic(file: Uint8Array): boolean {
  return file.length > TAIL_BYTES && String.fromCharCode(...file.subarray(-MAGIC.length)) === MAGIC;
}

function footerStart(file: Uint8Array): number {
  return file.length - TAIL_BYTES - viewOf(file).getInt32(file.length - TAIL_BYTES, true);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
