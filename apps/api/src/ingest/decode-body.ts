import type { Readable, Transform } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, zstdDecompress } from 'node:zlib';
import { messageOf, RecreditError } from '#lib/kernel';

const decompress = promisify(zstdDecompress);

/** A batch as it came and as it reads. */
export interface DecodedBody {
  readonly ndjson: Buffer;
  /** the zstd that it came as, where it did; null: as something else */
  readonly zstd: Buffer | null;
}

/**
 * Reads a body to its end and undoes its encoding. No more than `maximum` bytes of either form are ever held: a
 * decompression bomb is cut off there. Of zstd the bytes are kept, so that they need not be compressed again; they are
 * undone in one piece, as whoever reads the log will do it.
 *
 * @throws RecreditError `encoding.unknown`, `batch.too-large`, `request.invalid` for a body that does not decode
 */
export async function decodeBody(body: Readable, encoding: string | undefined, maximum: number): Promise<DecodedBody> {
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  switch (name) {
    case '':
    case 'identity':
      return { ndjson: await collect(body, maximum), zstd: null };
    case 'gzip':
      return { ndjson: await gunzipped(body, maximum), zstd: null };
    case 'zstd':
      return unzstd(body, maximum);
    default:
      throw new RecreditError('encoding.unknown', `Content-Encoding: identity, gzip or zstd was wanted, found ${name}`);
  }
}

async function unzstd(body: Readable, maximum: number): Promise<DecodedBody> {
  try {
    const zstd = await collect(body, maximum + maximum / 64); // what does not compress grows a little
    const ndjson = await decompress(zstd, { maxOutputLength: maximum });
    return { ndjson, zstd };
  } catch (error) {
    if (isCode(error, 'ERR_BUFFER_TOO_LARGE')) throw tooLarge(maximum);
    throw undecodable('zstd', error);
  } finally {
    body.resume(); // what is left is read and dropped, so that the answer can be sent
  }
}

async function gunzipped(body: Readable, maximum: number): Promise<Buffer> {
  const decoder: Transform = createGunzip();
  body.once('error', (error) => decoder.destroy(error));
  try {
    return await collect(body.pipe(decoder), maximum);
  } catch (error) {
    throw undecodable('gzip', error);
  } finally {
    body.unpipe(decoder);
    decoder.destroy();
    body.resume();
  }
}

async function collect(stream: Readable, maximum: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maximum) throw tooLarge(maximum);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

const tooLarge = (maximum: number) =>
  new RecreditError('batch.too-large', `a batch holds up to ${maximum} bytes after decompression`, { maximum });

function undecodable(name: string, error: unknown): RecreditError {
  if (error instanceof RecreditError) return error;
  return new RecreditError('request.invalid', `the body does not decode as ${name}: ${messageOf(error)}`);
}

const isCode = (error: unknown, code: string) => (error as { code?: unknown } | null)?.code === code;
