import { messageOf, RecreditError } from '#lib/kernel';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';

export interface OpenFile {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** of the file as it lies on disk */
  readonly size: number;
  read(): number;
  close(): void;
}

/** What a file begins with, and what that means. */
const UNREADABLE: readonly (readonly [string, string])[] = [
  ['504b0304', 'a zip archive (as torch saves): convert it to JSONL first'],
  ['8002', 'a Python pickle, which can run code when it is read: convert it to JSONL first'],
  ['8003', 'a Python pickle, which can run code when it is read: convert it to JSONL first'],
  ['8004', 'a Python pickle, which can run code when it is read: convert it to JSONL first'],
  ['8005', 'a Python pickle, which can run code when it is read: convert it to JSONL first'],
];

const PARQUET = '50415231';

export function isParquet(head: string): boolean {
  return head.startsWith(PARQUET);
}

/** Opens a file; gzip and zstd are known by their first bytes, whatever the file is called. */
export async function openFile(path: string): Promise<OpenFile> {
  const { head, size } = await checkFile(path);
  if (isParquet(head)) throw new RecreditError('file.invalid', `${path} is Parquet, which of all formats trl is`);
  const source = createReadStream(path, { highWaterMark: 256 * 1024 });
  const decompress = decompressor(path, head);
  // What breaks in the middle is thrown to whoever reads the bytes.
  const bytes = decompress ? pipeline(source, decompress, () => {}) : source;
  return { bytes, size, read: () => source.bytesRead, close: () => void source.destroy() };
}

/** What a file begins with, and how large it is. Refuses what is not there, and what nobody should read. */
export async function checkFile(path: string): Promise<{ head: string; size: number }> {
  const found = await headOf(path);
  const unreadable = UNREADABLE.find(([magic]) => found.head.startsWith(magic));
  if (unreadable) throw new RecreditError('file.invalid', `${path} is ${unreadable[1]}`);
  return found;
}

async function headOf(path: string): Promise<{ head: string; size: number }> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
      return { head: buffer.subarray(0, bytesRead).toString('hex'), size: (await file.stat()).size };
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new RecreditError('file.invalid', `${path} cannot be read: ${messageOf(error)}`, {}, { cause: error });
  }
}

function decompressor(path: string, head: string): Transform | null {
  if (head.startsWith('1f8b')) return zlib.createGunzip();
  if (!head.startsWith('28b52ffd')) return null;
  if (typeof zlib.createZstdDecompress === 'function') return zlib.createZstdDecompress();
  throw new RecreditError(
    'file.invalid',
    `${path} is zstd, which Node reads from 22.15 on; this is ${process.version}`,
  );
}
