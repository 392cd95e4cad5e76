import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const HARMLESS = /^[\w.:@-]{1,64}$/;

/** The caller's own `X-Request-Id`, where it may stand in a log as it is; else a new one. */
export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const said = headers['x-request-id'];
  return typeof said === 'string' && HARMLESS.test(said) ? said : randomUUID();
}
