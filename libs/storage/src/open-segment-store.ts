import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { RecreditError } from '#lib/kernel';
import { CachedSegmentStore } from './cached-segment-store.js';
import { FileCache } from './file-cache.js';
import { FolderSegmentStore } from './folder-segment-store.js';
import { s3PlaceOf } from './s3-place.js';
import { S3SegmentStore, type S3Options } from './s3-segment-store.js';
import type { SegmentStore } from './segment-store.js';

/** Opens the store that a URL names: `file:///some/folder`, or a bucket, of which a thread opens each one once. */
export async function openSegmentStore(url: string, options: S3Options = {}): Promise<SegmentStore> {
  const { protocol } = new URL(url);
  if (protocol === 's3:') return bucketOf(url, options);
  if (protocol !== 'file:') {
    throw new RecreditError('config.invalid', `${url}: segments lie in file:///some/folder or s3://bucket/prefix`);
  }
  const folder = fileURLToPath(url);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return new FolderSegmentStore(folder);
}

const buckets = new Map<string, Promise<SegmentStore>>();

/** Its connections and credentials serve every task. */
function bucketOf(url: string, options: S3Options): Promise<SegmentStore> {
  const name = JSON.stringify([url, options]);
  const known = buckets.get(name);
  if (known) return known;
  const opened = openBucket(url, options);
  opened.catch(() => buckets.delete(name));
  buckets.set(name, opened);
  return opened;
}

async function openBucket(url: string, options: S3Options): Promise<SegmentStore> {
  const place = s3PlaceOf(url);
  const bucket = new S3SegmentStore(await import('@aws-sdk/client-s3'), place, options);
  if (!place.cache || options.copies === false) return bucket;
  const { folder, bytes } = place.cache;
  const { endpoint, bucket: name, prefix } = place;
  return new CachedSegmentStore(bucket, await FileCache.open(folder, { bytes }), `${endpoint ?? ''} ${name}/${prefix}`);
}
