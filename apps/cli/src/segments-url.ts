import { RecreditError } from '#lib/kernel';

/** What an operator may write: a folder, or a bucket and a prefix in it. */
export const SEGMENTS = /^(file:.+|s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9_-][A-Za-z0-9._=-]*)*\/?)$/;

/** Services that are not Amazon's take any, and want one. */
const ANY_REGION = 'us-east-1';

export interface BucketParts {
  /** of which the variables of AWS are read; credentials are not: the AWS SDK looks for them where they are needed */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** null: with an endpoint that is not Amazon's */
  readonly pathStyle: boolean | null;
  readonly cache: { readonly folder: string; readonly bytes: number };
}

/**
 * The URL of a bucket with how it is reached in its query, as workers and their threads are given it.
 *
 * @throws RecreditError `config.invalid`
 */
export function bucketUrl(place: string, { environment, pathStyle, cache }: BucketParts): string {
  const variable = environment.AWS_ENDPOINT_URL_S3 ? 'AWS_ENDPOINT_URL_S3' : 'AWS_ENDPOINT_URL';
  const endpoint = environment[variable];
  if (endpoint && !/^https?:\/\/[^/]/.test(endpoint)) {
    const why = `${variable}: ${JSON.stringify(endpoint)} is not allowed; allowed: http://host:port or https://...`;
    throw new RecreditError('config.invalid', why, { variable });
  }
  const region = environment.AWS_REGION || environment.AWS_DEFAULT_REGION || (endpoint && ANY_REGION);
  const asked = new URLSearchParams();
  if (endpoint) asked.set('endpoint', endpoint);
  if (region) asked.set('region', region);
  if (pathStyle ?? Boolean(endpoint)) asked.set('pathStyle', 'true');
  if (cache.bytes > 0) {
    asked.set('cache', cache.folder);
    asked.set('cacheBytes', String(cache.bytes));
  }
  return `${place.replace(/\/$/, '')}?${asked.toString()}`;
}
