import { RecreditError } from '#lib/kernel';

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

/** What an operator writes: the bucket, and a prefix in it. */
export const S3_URL = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9_-][A-Za-z0-9._=-]*)*\/?$/;

/** One text of all of it, so that a worker and its threads are told where the store is as with a folder. */
export function s3PlaceUrl({ bucket, prefix, endpoint, region, pathStyle, cache }: S3Place): string {
  const url = new URL(`s3://${bucket}/${prefix}`);
  if (endpoint) url.searchParams.set('endpoint', endpoint);
  if (region) url.searchParams.set('region', region);
  if (pathStyle) url.searchParams.set('pathStyle', 'true');
  if (cache) {
    url.searchParams.set('cache', cache.folder);
    url.searchParams.set('cacheBytes', String(cache.bytes));
  }
  return url.href;
}

/** @throws RecreditError `config.invalid` */
export function s3PlaceOf(text: string): S3Place {
  const [place] = text.split('?', 1);
  if (!S3_URL.test(place))
    throw new RecreditError('config.invalid', `${place}: a bucket is s3://bucket or s3://bucket/prefix`);
  const { hostname, pathname, searchParams } = new URL(text);
  const prefix = pathname.split('/').filter(Boolean).join('/');
  const folder = searchParams.get('cache');
  return {
    bucket: hostname,
    prefix: prefix && `${prefix}/`,
    endpoint: searchParams.get('endpoint'),
    region: searchParams.get('region'),
    pathStyle: searchParams.get('pathStyle') === 'true',
    cache: folder === null ? null : { folder, bytes: Number(searchParams.get('cacheBytes')) },
  };
}
