import { messageOf, RecreditError } from '#lib/kernel';

/** Lost connections, a server that stops or is full, and locks that nobody gave up in time: what a later try may cure. */
const PASSING = /^(08|53|57P|40|55P03|25P03|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;
const PASSING_MESSAGE = /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered)/;

/**
 * What the database's failure means to whoever asked. When the connection died, a batch may be stored or not: sent
 * again, it is acknowledged at its position either way.
 */
export function unavailable(error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (error instanceof RecreditError) return error;
  if (!(typeof code === 'string' && PASSING.test(code)) && !PASSING_MESSAGE.test(messageOf(error))) return error;
  return new RecreditError(
    'database.unavailable',
    'the database did not answer, or had no room; ask again',
    {},
    {
      cause: error,
    },
  );
}
