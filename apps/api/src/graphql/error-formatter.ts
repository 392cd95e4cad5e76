import { ERROR_STATUS, RecreditError } from '#lib/kernel';
import type { FastifyReply } from 'fastify';
import { GraphQLError, Kind, type ExecutionResult, type GraphQLFormattedError } from 'graphql';
import type { Logger } from 'pino';
import { whoOf } from '../http/problem.js';
import { publicError } from '../public-error.js';

/** Mercurius' errorFormatter. */
export function errorFormatter(logger: Logger) {
  return (result: ExecutionResult, { reply }: { readonly reply?: FastifyReply }) => {
    const errors = codedErrors(result.errors ?? [], reply ? logger.child(whoOf(reply)) : logger);
    const statuses = errors.map(({ extensions }) => Number(extensions?.status));
    // what was refused before it ran has no data at all; a field that failed leaves the others standing
    const statusCode = result.data ? 200 : Math.max(200, ...statuses);
    return { statusCode, response: { data: result.data ?? null, errors } };
  };
}

/** Every error leaves with a stable code; what has none is our fault, logged and not shown. */
export function codedErrors(errors: readonly GraphQLError[], logger: Logger): GraphQLFormattedError[] {
  return errors.flatMap((error) => {
    const { errors: found } = (error.originalError ?? {}) as { readonly errors?: readonly GraphQLError[] };
    // Mercurius wraps what syntax, validation and depth came to
    if (found) return found.map((each) => withCode(each, refused(each)));
    return [withCode(error, causeOf(error, logger))];
  });
}

function causeOf(error: GraphQLError, logger: Logger): RecreditError {
  const cause = error.originalError;
  // before anything ran: a query or its variables
  if (!error.path && (!cause || cause instanceof GraphQLError)) return refused(error);
  const known = publicError(cause);
  if (known.code === 'internal.error') logger.error({ err: cause ?? error, field: fieldOf(error) }, 'a field failed');
  const isFrameworks = known !== cause && known.code !== 'internal.error' && !error.path; // a body that is no JSON
  return isFrameworks ? refused(error) : known;
}

/** As the schema calls it: the path has the names that the caller chose. */
function fieldOf({ nodes }: GraphQLError): string | undefined {
  const node = nodes?.[0];
  return node?.kind === Kind.FIELD ? node.name.value : undefined;
}

const refused = ({ message }: Pick<Error, 'message'>) => new RecreditError('query.invalid', message);

function withCode(error: GraphQLError, { code, message, details }: RecreditError): GraphQLFormattedError {
  const { locations, path } = error;
  return {
    message,
    ...(locations && { locations }),
    ...(path && { path }),
    extensions: { code, status: ERROR_STATUS[code], details },
  };
}
