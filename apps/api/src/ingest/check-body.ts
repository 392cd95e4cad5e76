import { isUtf8 } from 'node:buffer';
import { sealPayload, sha256, type SealedPayload } from '#lib/event-log';
import { countEvents, MAX_BATCH_BYTES } from '#lib/protocol';
import { decodeBody, type Encoding } from './decode-body.js';

/** A batch as it came. */
export interface EncodedBody {
  readonly body: Uint8Array;
  readonly encoding: Encoding;
}

/**
 * Decodes and checks a batch, and seals it: the client's zstd is stored as it came, anything else is compressed.
 *
 * @throws RecreditError what is wrong with it
 */
export async function checkBody({ body, encoding }: EncodedBody): Promise<SealedPayload> {
  const ndjson = await decodeBody(body, encoding, MAX_BATCH_BYTES);
  const digest = sha256(ndjson); // on another thread, while this one checks
  const eventCount = countEvents(ndjson, isUtf8);
  const zstd = encoding === 'zstd' && { zstd: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
  return sealPayload(ndjson, eventCount, { sha256: await digest, ...zstd });
}
