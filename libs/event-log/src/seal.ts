import { webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { RecreditError } from '#lib/kernel';
import { MAX_BATCH_BYTES } from '#lib/protocol';
import { PLATFORM_PRODUCER, type Producer, type SealedBatch, type SealedPayload } from './batch.js';

const compress = promisify(zstdCompress);
/** What a producer's own compression must reach to be kept as it is. */
const LEAST_RATIO = 2;
const MAX_INT4 = 2_147_483_647;
const PRODUCER_ID = /^[^\p{Cc}\p{Cs}]{1,512}$/u;

/** What a request brings: the events as they came, and who numbers them. */
export interface UnsealedBatch extends Producer {
  readonly ndjson: Uint8Array;
  readonly eventCount: number;
  /** what the caller has worked out already */
  readonly known?: KnownSeal;
}

/** Parts of a seal that need not be made again. */
export interface KnownSeal {
  /** of the NDJSON */
  readonly sha256?: Buffer;
  /** what decompresses to the NDJSON, and has been seen to do so */
  readonly zstd?: Buffer;
}

/** Of any bytes, on another thread. */
export async function sha256(bytes: Uint8Array): Promise<Buffer> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes));
}

/** Hashes and compresses a batch, on other threads than the event loop's. */
export async function sealBatch({ ndjson, eventCount, known, ...producer }: UnsealedBatch): Promise<SealedBatch> {
  return batchOf(producer, await sealPayload(ndjson, eventCount, known));
}

/**
 * A sealed payload as the batch of a producer. Here is the door where the producer's words are checked: what passes
 * cannot fail in the database and take the other batches of its transaction along.
 */
export function batchOf({ producerId, epoch, sequence }: Producer, sealed: SealedPayload): SealedBatch {
  if (!PRODUCER_ID.test(producerId)) {
    throw invalid('a producer id has 1 to 512 characters and no control characters', producerId);
  }
  if (producerId === PLATFORM_PRODUCER) {
    throw invalid(`the producer id "${PLATFORM_PRODUCER}" is the platform's own`, producerId);
  }
  if (!isCount(epoch)) throw invalid('an epoch counts from 0', epoch);
  if (!isCount(sequence)) throw invalid('the sequence of a producer counts from 0', sequence);
  return { ...sealed, producerId, epoch, sequence };
}

/**
 * The producer's zstd is stored as it came, unless it compressed badly: padding is not what the log is for.
 */
export async function sealPayload(
  ndjson: Uint8Array,
  eventCount: number,
  known: KnownSeal = {},
): Promise<SealedPayload> {
  if (!isCount(eventCount) || eventCount === 0) throw invalid('a batch holds at least one event', eventCount);
  const size = ndjson.byteLength;
  if (size > MAX_BATCH_BYTES) {
    throw new RecreditError('batch.too-large', `a batch holds up to ${MAX_BATCH_BYTES} bytes, this one ${size}`, {
      maximum: MAX_BATCH_BYTES,
      found: size,
    });
  }
  const [digest, payload] = await Promise.all([
    known.sha256 ?? sha256(ndjson),
    known.zstd && known.zstd.length <= size / LEAST_RATIO ? known.zstd : compress(ndjson),
  ]);
  return { eventCount, codec: 'zstd', payload, size, sha256: digest };
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_INT4;
}

function invalid(wanted: string, found: unknown): RecreditError {
  return new RecreditError('request.invalid', `${wanted}, found ${JSON.stringify(found)}`);
}
