import { type Data, RecordBatch, RecordBatchFileWriter, RecordBatchReader, Schema, type Struct } from 'apache-arrow';
import { messageOf, RecreditError } from '#lib/kernel';
import { structData, type ArrowColumn } from './arrow-columns.js';
import { CHECKSUM_BYTES, ENTRY_BYTES, isHead, openHead, writeEntry } from './arrow-head.js';
import { checksum } from './checksum.js';
import { concatBytes, type Allocate } from './concat-bytes.js';
import { endsInMagic, footerStart, viewOf } from './file-end.js';

/** Schema metadata: what kind of file this is, and the version of its layout. */
const FORMAT = 'recredit.format';

export interface ArrowFile {
  readonly root: Data<Struct>;
  readonly metadata: ReadonlyMap<string, string>;
  /** the values of its last columns were not read */
  readonly isHead: boolean;
}

export interface WriteOptions {
  readonly metadata?: ReadonlyMap<string, string>;
  /** where the file is put; memory of its own if not said */
  readonly allocate?: Allocate | undefined;
  /** how many of the innermost columns at its end need not be read with the others */
  readonly lastColumns?: number;
}

/**
 * One Arrow IPC file of one record batch, with a checksum before the footer, where no reader looks. The same columns give
 * the same bytes on every machine.
 */
export function writeArrowFile(
  format: string,
  columns: readonly ArrowColumn[],
  rows: number,
  { metadata = new Map(), allocate, lastColumns = 0 }: WriteOptions = {},
): Uint8Array {
  const root = structData(columns, rows);
  const schema = new Schema(root.type.children, new Map([[FORMAT, format], ...metadata]));
  const writer = new FileWriter();
  writer.write(new RecordBatch(schema, root));
  writer.finish();
  const room = new Uint8Array((lastColumns > 0 ? ENTRY_BYTES : 0) + CHECKSUM_BYTES);
  const bytes = concatBytes([...writer.chunks, room], allocate);
  moveFooter(bytes, room.length);
  if (lastColumns > 0) writeEntry(bytes, lastColumns);
  writeChecksum(bytes);
  return bytes;
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
 * Opens such a file, or the head of one; the columns view its bytes.
 *
 * @throws RecreditError `segment.damaged` where it is not one, or not whole
 */
export function openArrowFile(format: string, bytes: Uint8Array): ArrowFile {
  return orDamaged(`Arrow file ${format}`, () => {
    // Typed arrays view the file only where it begins at a multiple of eight.
    const aligned = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
    // Arrow's reader does not check what it reads: a wrong length can keep it busy for ever.
    const file = isHead(aligned) ? { ...openHead(aligned), isHead: true } : { ...readWhole(aligned), isHead: false };
    const said = file.metadata.get(FORMAT);
    if (said !== format) throw new Error(`it says that it is ${said ?? 'nothing'}`);
    return file;
  });
}

function readWhole(file: Uint8Array) {
  assertChecksum(file);
  const batches = [...RecordBatchReader.from(file)];
  if (batches.length !== 1) throw new Error(`it should hold one record batch and holds ${batches.length}`);
  return { root: batches[0].data, metadata: batches[0].schema.metadata };
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
 * Makes room before the footer: a multiple of eight bytes, so that all alignments stay.
 *
 * @param padded a file, and as many bytes more; changed in place
 */
function moveFooter(padded: Uint8Array, room: number): void {
  const file = padded.subarray(0, -room);
  const at = footerStart(file);
  padded.copyWithin(at + room, at, file.length);
}

function writeChecksum(file: Uint8Array): void {
  const footer = footerStart(file);
  const at = footer - CHECKSUM_BYTES;
  viewOf(file).setBigUint64(at, checksum([file.subarray(0, at), file.subarray(footer)]), true);
}

function assertChecksum(file: Uint8Array): void {
  const footer = endsInMagic(file) ? footerStart(file) : 0;
  const at = footer - CHECKSUM_BYTES;
  if (at < 0 || footer > file.length) throw new Error(`its ${file.length} bytes do not end as Arrow files do`);
  if (viewOf(file).getBigUint64(at, true) !== checksum([file.subarray(0, at), file.subarray(footer)])) {
    throw new Error('its checksum does not agree with its bytes');
  }
}
