import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { damaged } from './damaged.js';

export interface Written {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes what comes, on disk when it returns. The file must not be there. */
export async function writeChecked(
  folder: string,
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): Promise<Written> {
  const sha256 = createHash('sha256');
  let bytes = 0;
  const handle = await open(join(folder, file), 'wx', 0o600);
  try {
    for await (const chunk of chunks) {
      await handle.appendFile(chunk);
      sha256.update(chunk);
      bytes += chunk.length;
      onBytes(chunk.length);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { file, bytes, sha256: sha256.digest('hex') };
}

export async function writeSafely(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Reads the whole file. @throws RecreditError `backup.damaged` where one byte is not as it was written */
export async function assertWhole(
  folder: string,
  { file, bytes, sha256 }: Written,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const path = join(folder, file);
  const found = await stat(path).catch(() => null);
  if (!found) throw damaged(`${file} is missing`);
  if (found.size !== bytes) throw damaged(`${file}: ${bytes} bytes were written, found ${found.size}`);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    onBytes(chunk.length);
  }
  if (hash.digest('hex') !== sha256) throw damaged(`${file} is not what was written: its sha256 differs`);
}
