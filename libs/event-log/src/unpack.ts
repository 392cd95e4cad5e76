import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { RecreditError } from '#lib/kernel';
import { upcast, type RunEvent } from '#lib/protocol';

const decompress = promisify(zstdDecompress);
/** as zlib wants it */
const LEAST_CHUNK = 64;
const NEWLINE = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A batch as a statement gives it. */
export interface PackedBatch {
  readonly firstPosition: number;
  readonly eventCount: number;
  readonly receivedAt: Date;
  readonly payload: Buffer;
  readonly size: number;
}

/** A batch that can be read: the NDJSON as it came, and where its lines begin. No event is parsed before it is asked for. */
export interface UnpackedBatch {
  readonly firstPosition: number;
  readonly receivedAt: Date;
  readonly ndjson: Buffer;
  /** [events + 1] */
  readonly lineStarts: Uint32Array;
}

export async function unpack(packed: PackedBatch): Promise<UnpackedBatch> {
  const { firstPosition, eventCount, receivedAt } = packed;
  // in one piece: pieces of the usual size cost more to join than to decompress
  const chunkSize = Math.max(packed.size, LEAST_CHUNK);
  const ndjson = await decompress(packed.payload, { maxOutputLength: packed.size, chunkSize });
  const lineStarts = startsOfLines(ndjson);
  if (lineStarts.length - 1 === eventCount) return { firstPosition, receivedAt, ndjson, lineStarts };
  throw new RecreditError(
    'chain.broken',
    `the batch at ${firstPosition} should hold ${eventCount} events and holds ${lineStarts.length - 1}`,
  );
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
