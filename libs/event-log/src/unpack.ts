import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { RecreditError } from '#lib/kernel';
import { upcast, type RunEvent } from '#lib/protocol';
import type { Columns } from './queryable.js';

const inflate = promisify(zstdDecompress);
/** as zlib wants it */
const LEAST_CHUNK = 64;
const NEWLINE = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A batch as a statement gives it. */
export type PackedBatch = {
  readonly firstPosition: number;
  readonly eventCount: number;
  readonly receivedAt: Date;
  readonly payload: Buffer;
  readonly size: number;
};

/** The select list of a PackedBatch, and what it gives. */
export const PACKED = `first_position::float8 as "firstPosition", event_count as "eventCount", received_at as "receivedAt",
  payload, payload_size as size`;
export const PACKED_COLUMNS: Columns<PackedBatch> = {
  firstPosition: 'float8',
  eventCount: 'int4',
  receivedAt: 'timestamptz',
  payload: 'bytea',
  size: 'int4',
};

/** A batch that can be read: the NDJSON as it came, and where its lines begin. No event is parsed before it is asked for. */
export interface UnpackedBatch {
  readonly firstPosition: number;
  readonly receivedAt: Date;
  readonly ndjson: Buffer;
  /** [events + 1] */
  readonly lineStarts: Uint32Array;
}

export async function unpack({
  firstPosition,
  eventCount,
  receivedAt,
  payload,
  size,
}: PackedBatch): Promise<UnpackedBatch> {
  const ndjson = await decompress(payload, size);
  const lineStarts = startsOfLines(ndjson);
  if (lineStarts.length - 1 === eventCount) return { firstPosition, receivedAt, ndjson, lineStarts };
  throw new RecreditError(
    'chain.broken',
    `the batch at ${firstPosition} should hold ${eventCount} events and holds ${lineStarts.length - 1}`,
  );
}

/**
 * On another thread.
 *
 * @param size bytes of the NDJSON
 * @throws what zlib throws for bytes that are no zstd, or more than that
 */
export async function decompress(payload: Buffer, size: number): Promise<Buffer> {
  // in one piece: pieces of the usual size cost more to join than to decompress; where one is full, zlib makes another
  const chunkSize = Math.max(size + 1, LEAST_CHUNK);
  const inflated = await inflate(payload, { maxOutputLength: size, chunkSize });
  if (chunkSize <= Buffer.poolSize) return inflated; // may share its memory with others
  // zlib keeps what it wrote until V8 marks its whole heap; so it keeps nothing
  const { buffer, byteOffset, length } = inflated;
  return Buffer.from(buffer.transfer(), byteOffset, length);
}

/** @returns the event in its current shape, whatever version it was written in */
export function eventAt({ firstPosition, ndjson, lineStarts }: UnpackedBatch, position: number): RunEvent {
  const line = position - firstPosition;
  return upcast(JSON.parse(ndjson.toString('utf8', lineStarts[line], lineStarts[line + 1])));
}

/**
 * Where the lines begin, and the end: a last newline is an end and not another line, and a byte order mark is no text.
 *
 * @returns [lines + 1]
 */
export function startsOfLines(ndjson: Buffer): Uint32Array {
  const starts: number[] = [];
  let next = ndjson.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
  while (next < ndjson.length) {
    starts.push(next);
    const newline = ndjson.indexOf(NEWLINE, next);
    next = newline < 0 ? ndjson.length : newline + 1;
  }
  return Uint32Array.from([...starts, ndjson.length]);
}
