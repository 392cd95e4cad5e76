import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { RecreditError } from '#lib/kernel';
import { FolderSegmentStore } from './folder-segment-store.js';
import type { SegmentStore } from './segment-store.js';

/** Opens the store that a URL names: `file:///some/folder`. */
export async function openSegmentStore(url: string): Promise<SegmentStore> {
  const { protocol } = new URL(url);
  if (protocol === 's3:') {
    throw new RecreditError(
      'config.invalid',
      `${url}: segments in a bucket are not in this version yet; use file:///some/folder`,
    );
  }
  if (protocol !== 'file:') throw new RecreditError('config.invalid', `${url}: segments lie in file:///some/folder`);
  const folder = fileURLToPath(url);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return new FolderSegmentStore(folder);
}
