import type { Readable, Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { messageOf, RecreditError } from '#lib/kernel';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  zstd: () => createZstdDecompress(),
};

/**
 * Reads a body to its end and undoes its encoding. No more than `maximum` bytes are ever held: a decompression bomb is
 * cut off there.
 *
 * @throws RecreditError `encoding.unknown`, `batch.too-large`, `request.invalid` for a body that does not decode
 */
export async function decodeBody(body: Readable, encoding: string | undefined, maximum: number): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  if (name === 'identity' || name === '') return collect(body, maximum);
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name]() : null;
  if (!decoder) {
    throw new RecreditError('encoding.unknown', `Content-Encoding: identity, gzip or zstd was wanted, found ${name}`);
  }
  body.once('error', (error) => decoder.destroy(error));
  try {
    return await collect(body.pipe(decoder), maximum);
  } catch (error) {
    if (error instanceof RecreditError) throw error;
    throw new RecreditError('request.invalid', `the body does not decode as ${name}: ${messageOf(error)}`);
  } finally {
    body.unpipe(decoder);
    decoder.destroy();
    body.resume(); // what is left is read and dropped, so that the answer can be sent
  }
}

async function collect(stream: Readable, maximum: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maximum) {
      throw new RecreditError('batch.too-large', `a batch holds up to ${maximum} bytes after decompression`, {
        maximum,
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
