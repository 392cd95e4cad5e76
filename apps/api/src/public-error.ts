import { HttpException } from '@nestjs/common';
import { unavailable } from '#lib/event-log';
import { messageOf, RecreditError, type ErrorCode } from '#lib/kernel';

/**
 * What a client may know of an error: ours as they are, a refused request as such, a database that is away or full as
 * something that passes, anything else as our fault.
 */
export function publicError(error: unknown): RecreditError {
  if (error instanceof RecreditError) return error;
  if (isUnstorableText(error)) {
    return new RecreditError('request.invalid', 'text without NUL characters was wanted', {}, { cause: error });
  }
  const passing = unavailable(error);
  if (passing instanceof RecreditError) return passing;
  const status = statusOf(error);
  if (status >= 400 && status < 500)
    return new RecreditError(codeOf(status), messageOf(error), { status }, { cause: error });
  return new RecreditError(
    'internal.error',
    'something went wrong on our side; the log of the platform has it',
    {},
    { cause: error },
  );
}

/** Postgres keeps no NUL in text (22021) nor in jsonb (22P05), and everything that a client names may hold one. */
function isUnstorableText(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return code === '22021' || code === '22P05';
}

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  return Number((error as { statusCode?: unknown } | null)?.statusCode ?? 500);
}

function codeOf(status: number): ErrorCode {
  if (status === 413) return 'batch.too-large';
  if (status === 415) return 'encoding.unknown';
  return 'request.invalid';
}
