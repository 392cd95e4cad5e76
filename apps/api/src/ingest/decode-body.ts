import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';
import { messageOf, RecreditError } from '#lib/kernel';

/** What undoes an encoding; null: there is nothing to undo. */
const DECODERS = {
  identity: null,
  gzip: promisify(gunzip),
  zstd: promisify(zstdDecompress),
} as const;
export type Encoding = keyof typeof DECODERS;

/** Batches mostly fit into one piece of memory; those of the default, 16 KiB, cost more than the decoding. */
const CHUNK_BYTES = 1024 * 1024;

/** Reads a Content-Encoding; none is `identity`. @throws RecreditError `encoding.unknown` */
export function encodingOf(header: string | undefined): Encoding {
  const name = header?.trim().toLowerCase() || 'identity';
  if (Object.hasOwn(DECODERS, name)) return name as Encoding;
  throw new RecreditError('encoding.unknown', `Content-Encoding: identity, gzip or zstd was wanted, found ${name}`);
}

/**
 * Reads a body to its end, into memory of its own. Of an endless one no more than `maximum` bytes are ever held, and
 * the little by which grows what does not compress.
 *
 * @throws RecreditError `batch.too-large`, `request.invalid` for a body that breaks off
 */
export async function collectBody(body: Readable, maximum: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maximum + maximum / 64) throw tooLarge(maximum);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof RecreditError) throw error;
    throw new RecreditError('request.invalid', `the body breaks off after ${size} bytes: ${messageOf(error)}`);
  } finally {
    body.resume(); // what is left is read and dropped, so that the answer can be sent
  }
  return Buffer.concat(chunks, size);
}

/**
 * Undoes an encoding. A decompression bomb is cut off at `maximum` bytes.
 *
 * @throws RecreditError `batch.too-large`, `request.invalid` for a body that does not decode
 */
export async function decodeBody(body: Uint8Array, encoding: Encoding, maximum: number): Promise<Buffer> {
  const decode = DECODERS[encoding];
  if (!decode) {
    if (body.length > maximum) throw tooLarge(maximum);
    return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  }
  try {
    return await decode(body, { maxOutputLength: maximum, chunkSize: CHUNK_BYTES });
  } catch (error) {
    if (isCode(error, 'ERR_BUFFER_TOO_LARGE')) throw tooLarge(maximum);
    throw new RecreditError('request.invalid', `the body does not decode as ${encoding}: ${messageOf(error)}`);
  }
}

const tooLarge = (maximum: number) =>
  new RecreditError('batch.too-large', `a batch holds up to ${maximum} bytes after decompression`, { maximum });

const isCode = (error: unknown, code: string) => (error as { code?: unknown } | null)?.code === code;
