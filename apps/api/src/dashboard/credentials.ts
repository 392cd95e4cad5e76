import type { IncomingHttpHeaders } from 'node:http';
import { keyOfCookie } from './session-cookie.js';

/** Sent by the dashboard with all it asks for. A page of another origin cannot add it without asking us first. */
export const CSRF_HEADER = 'recredit-csrf';

interface Asked {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/**
 * What a request says of who sends it, as a value of `Authorization`: that header, else the cookie of a browser.
 * A browser sends its cookie whoever made it ask, so where something may change, or be listened to, the cookie counts
 * only from our own pages. SameSite alone is not enough: another port of the same host is the same site.
 */
export function credentialsOf(request: Asked): string | undefined {
  const { authorization, cookie } = request.headers;
  if (authorization !== undefined) return authorization;
  const key = keyOfCookie(cookie);
  return key !== null && isOurOwn(request) ? `Bearer ${key}` : undefined;
}

/** Whether one of our own pages must have sent it, or it changes nothing. */
export function isOurOwn({ method, headers }: Asked): boolean {
  if (headers.upgrade !== undefined) return isSameOrigin(headers);
  return method === 'GET' || method === 'HEAD' || headers[CSRF_HEADER] === '1';
}

function isSameOrigin({ origin, host }: IncomingHttpHeaders): boolean {
  return origin !== undefined && URL.parse(origin)?.host === host;
}
