import type { FileHandle } from 'node:fs/promises';

/** Gives the memory that a file is read into. */
export type Allocate = (bytes: number) => Uint8Array;

export const ownMemory: Allocate = (bytes) => Buffer.allocUnsafeSlow(bytes);

/**
 * Reads a file, or `size` bytes of it.
 *
 * @returns less where it is cut off meanwhile
 */
export async function readWhole(file: FileHandle, size: number, allocate: Allocate, from = 0): Promise<Uint8Array> {
  const bytes = allocate(size);
  for (let length = 0; length < size;) {
    const { bytesRead } = await file.read(bytes, length, size - length, from + length);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
  }
  return bytes;
}
