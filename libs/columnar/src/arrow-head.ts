import { makeData, Message, Struct, Vector, type DataType, type Field } from 'apache-arrow';
import { Footer, type FileBlock } from 'apache-arrow/ipc/metadata/file';
import type {
  DictionaryBatch as DictionaryBatchMessage,
  RecordBatch as RecordBatchMessage,
} from 'apache-arrow/ipc/metadata/message';
import { VectorLoader } from 'apache-arrow/visitor/vectorloader';
import { checksum } from './checksum.js';
import { endsInMagic, footerOf, footerStart, viewOf } from './file-end.js';

// The head of a file is all of it up to the values of its last columns: those of tokens, which are most of a segment and
// which few read. Its entry stands before the checksum of the whole, where no reader looks. Who reads the head puts the end
// of the file behind it, from the entry on: one piece, which tells itself from a whole file and from one that was cut off.

/** `recredit`: there is an entry. */
const MARK = 0x7469646572636572n;
/** Checksum of the head and of the footer, length of the head, mark. */
export const ENTRY_BYTES = 24;
/** The checksum of the whole, behind the entry. */
export const CHECKSUM_BYTES = 8;
/** Of -1 and the length of what follows, before the description of a message. */
const PREFIX_BYTES = 8;
/** Each column without children has two buffers: what is valid, and values or keys. */
const BUFFERS_OF_COLUMN = 2;

/** @param file with room for the entry; it is written there */
export function writeEntry(file: Uint8Array, lastColumns: number): void {
  const [block] = Footer.decode(footerOf(file)).recordBatches();
  const { buffers } = messageAt(file, block).header() as RecordBatchMessage;
  const length = bodyStart(block) + buffers[buffers.length - BUFFERS_OF_COLUMN * lastColumns].offset;
  const entry = viewOf(file.subarray(entryStart(file)));
  entry.setBigUint64(0, checksumOf(file, length), true);
  entry.setBigUint64(8, BigInt(length), true);
  entry.setBigUint64(16, MARK, true);
}

/**
 * How long the head of a file is, and what of its end belongs to it.
 *
 * @param end the last bytes of the file
 * @returns null where it has no head, or not enough of its end is here
 */
export function headIn(end: Uint8Array): { readonly length: number; readonly end: Uint8Array } | null {
  if (!endsInMagic(end)) return null;
  const at = entryStart(end);
  if (at < 0 || viewOf(end).getBigUint64(at + 16, true) !== MARK) return null;
  return { length: Number(viewOf(end).getBigUint64(at + 8, true)), end: end.subarray(at) };
}

/** Whether these are the bytes of a head and the end that belongs to it. */
export function isHead(bytes: Uint8Array): boolean {
  const head = headIn(bytes);
  return head !== null && head.length + head.end.length === bytes.length;
}

/** The record batch of a head. Columns whose values lie behind it have their length, and no values. */
export function openHead(bytes: Uint8Array) {
  const { length } = headIn(bytes)!;
  if (viewOf(bytes).getBigUint64(length, true) !== checksumOf(bytes, length)) {
    throw new Error('the checksum of its head does not agree with its bytes');
  }
  const head = bytes.subarray(0, length);
  const footer = Footer.decode(footerOf(bytes));
  const { schema } = footer;
  const dictionaries = new Map<number, Vector>();
  const load = (block: FileBlock, { nodes, buffers }: RecordBatchMessage, fields: (Field | DataType)[]) =>
    new VectorLoader(head.subarray(bodyStart(block)), nodes, buffers, dictionaries).visitMany(fields);
  for (const block of footer.dictionaryBatches()) {
    const { id, data } = messageAt(head, block).header() as DictionaryBatchMessage;
    dictionaries.set(id, new Vector(load(block, data, [schema.dictionaries.get(id)!])));
  }
  const [block] = footer.recordBatches();
  const batch = messageAt(head, block).header() as RecordBatchMessage;
  const children = load(block, batch, schema.fields);
  const root = makeData({ type: new Struct(schema.fields), length: batch.length, nullCount: 0, children });
  return { root, metadata: schema.metadata };
}

const bodyStart = ({ offset, metaDataLength }: FileBlock) => offset + metaDataLength;

/** The description of a record batch or dictionary. */
function messageAt(file: Uint8Array, block: FileBlock): Message {
  return Message.decode(file.subarray(block.offset + PREFIX_BYTES, bodyStart(block)));
}

/** Below 0: it begins before these last bytes of a file. */
const entryStart = (file: Uint8Array) => footerStart(file) - CHECKSUM_BYTES - ENTRY_BYTES;

/** Of the head and the footer, which says how it is read. */
function checksumOf(file: Uint8Array, length: number): bigint {
  return checksum([file.subarray(0, length), file.subarray(footerStart(file))]);
}
