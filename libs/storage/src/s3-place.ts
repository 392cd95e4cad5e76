import { RecreditError } from '#lib/kernel';
import { isKey } from './segment-store.js';

/** A bucket, or what lies below a prefix of it, and how it is reached. */
export interface S3Place {
  readonly bucket: string;
  /** '', or ends with a slash */
  readonly prefix: string;
  /** of a service that is not Amazon's; null: as the AWS variables and profiles say */
  readonly endpoint: string | null;
  /** null: as they say */
  readonly region: string | null;
  /** `https://host/bucket/key` instead of `https://bucket.host/key` */
  readonly pathStyle: boolean;
  /** where copies of what was read lie */
  readonly cache: { readonly folder: string; readonly bytes: number } | null;
}

/**
 * Reads `s3://bucket/prefix?endpoint=…&region=…&pathStyle=true&cache=/a/folder&cacheBytes=…`: one text, so that a worker and
 * its threads are told where segments lie as they are told a folder.
 *
 * @throws RecreditError `config.invalid`
 */
export function s3PlaceOf(url: string): S3Place {
  const { hostname: bucket, pathname, searchParams } = new URL(url);
  const prefix = pathname.replace(/^\/|\/$/g, '');
  if (!/^[a-z0-9.-]+$/.test(bucket) || !(prefix === '' || isKey(prefix))) {
    throw new RecreditError('config.invalid', `${url.split('?', 1)[0]}: a bucket is s3://bucket or s3://bucket/prefix`);
  }
  const folder = searchParams.get('cache');
  return {
    bucket,
    prefix: prefix && `${prefix}/`,
    endpoint: searchParams.get('endpoint'),
    region: searchParams.get('region'),
    pathStyle: searchParams.get('pathStyle') === 'true',
    cache: folder === null ? null : { folder, bytes: Number(searchParams.get('cacheBytes')) },
  };
}
