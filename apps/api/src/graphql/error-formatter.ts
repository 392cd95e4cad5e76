import { ERROR_STATUS, RecreditError } from '#lib/kernel';
import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import type { Logger } from 'pino';

type Cause = Error & { readonly errors?: readonly GraphQLError[]; readonly statusCode?: number };

const INTERNAL = new RecreditError(
  'internal.error',
  'something went wrong on our side; the log of the platform has it',
);

/** Mercurius' errorFormatter: every error leaves with a stable code; what has none is our fault, logged and not shown. */
export function errorFormatter(logger: Logger) {
  return (result: ExecutionResult) => {
    const errors = (result.errors ?? []).flatMap((error) => coded(error, logger));
    const statuses = errors.map(({ extensions }) => Number(extensions?.status));
    // what was refused before it ran has no data at all; a field that failed leaves the others standing
    const statusCode = result.data ? 200 : Math.max(200, ...statuses);
    return { statusCode, response: { data: result.data ?? null, errors } };
  };
}

function coded(error: GraphQLError, logger: Logger): GraphQLFormattedError[] {
  const cause = error.originalError as Cause | undefined;
  if (cause instanceof RecreditError) return [withCode(error, cause)];
  if (cause?.errors) return cause.errors.flatMap((inner) => coded(inner, logger)); // Mercurius wraps what validation found
  const refused = !cause || (cause.statusCode ?? 500) < 500 || cause.name === 'GraphQLError';
  if (refused) return [withCode(error, new RecreditError('query.invalid', error.message))];
  logger.error({ err: cause, path: error.path }, 'a field failed');
  return [withCode(error, INTERNAL)];
}

function withCode(error: GraphQLError, { code, message, details }: RecreditError): GraphQLFormattedError {
  const { locations, path } = error.toJSON?.() ?? error;
  return {
    message,
    ...(locations && { locations }),
    ...(path && { path }),
    extensions: { code, status: ERROR_STATUS[code], details },
  };
}
