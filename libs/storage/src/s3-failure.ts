import { messageOf, RecreditError } from '#lib/kernel';

/** What became of a request to a bucket. */
export interface S3Failure {
  /** It may go well when tried again. */
  readonly isTransient: boolean;
  readonly error: RecreditError;
}

/** Bytes that came are not those that were written. */
export class DamagedOnTheWay extends Error {}

interface Thrown {
  readonly name?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

/** Of the status 400 and the like, and yet the request may be sent again as it is. */
const SENT_AGAIN = new Set([
  'RequestTimeout',
  'RequestTimeTooSkewed', // the SDK has learnt by it what the server's clock says
  'IncompleteBody',
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'OperationAborted',
]);
/** No answer came, or no whole one. */
const NO_ANSWER = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

export const statusOf = (error: unknown) => (error as Thrown).$metadata?.httpStatusCode;

/** Whether a key is not there; of a bucket that is not there a HEAD request says the same. */
export const isMissingKey = (error: unknown) => statusOf(error) === 404 && (error as Thrown).name !== 'NoSuchBucket';

/** Older versions of a key lie below a mark that it was deleted. */
export const isDeleteMarker = (error: unknown) =>
  (error as Thrown).$response?.headers?.['x-amz-delete-marker'] === 'true';

/**
 * What an answer of a bucket, or none, means. The message names neither bucket nor host: callers of the API may read it.
 *
 * @param doing what was wanted, as in "to write"
 */
export function s3Failure(error: unknown, doing: string): S3Failure {
  const { name = '', code = '' } = error as Thrown;
  const status = statusOf(error) ?? 0;
  const said = code || (status ? `${name}, status ${status}` : name);
  const failure = (isTransient: boolean, message: string): S3Failure => ({
    isTransient,
    error: new RecreditError('segments.unavailable', message, { isTransient }, { cause: error }),
  });
  if (error instanceof DamagedOnTheWay) return failure(true, messageOf(error));
  if (status >= 500 || status === 429)
    return failure(true, `the bucket of the segment store is overloaded or broken (${said})`);
  if (SENT_AGAIN.has(name))
    return failure(true, `the bucket of the segment store did not take a request ${doing} (${said})`);
  if (name === 'TimeoutError' || NO_ANSWER.has(code)) {
    return failure(true, `the bucket of the segment store does not answer (${said})`);
  }
  if (status === 404) return failure(false, `the bucket of the segment store is not there (${said})`);
  if (status === 401 || status === 403)
    return failure(false, `the bucket of the segment store refuses access ${doing} (${said})`);
  if (name === 'CredentialsProviderError' || name === 'TokenProviderError') {
    return failure(false, `no credentials for the bucket of the segment store were found: ${messageOf(error)}`);
  }
  return failure(false, `the bucket of the segment store cannot be used ${doing} (${said}): ${messageOf(error)}`);
}
