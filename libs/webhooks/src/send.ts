import { signature } from './sign.js';

/** One request, and what came of it. */
export interface Try {
  readonly at: string;
  /** null: no answer came */
  readonly status: number | null;
  /** why it does not count as delivered; null: it does */
  readonly reason: string | null;
  readonly milliseconds: number;
}

export interface Parcel {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly body: string;
}

/**
 * Sends a delivery once. An answer of 200 to 299 takes it; its body is not read, redirects are not followed.
 *
 * @throws the signal's reason when it is aborted, for that is not the receiver's fault
 */
export async function send({ id, url, secret, body }: Parcel, timeoutMs: number, signal?: AbortSignal): Promise<Try> {
  const at = new Date();
  const started = performance.now();
  const seconds = Math.floor(at.getTime() / 1000);
  const tried = (status: number | null, reason: string | null): Try => ({
    at: at.toISOString(),
    status,
    reason,
    milliseconds: Math.round(performance.now() - started),
  });
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'recredit',
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signature(secret, id, seconds, body),
      },
      body,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    await response.body?.cancel();
    return tried(response.status, refusal(response.status));
  } catch (error) {
    signal?.throwIfAborted();
    return tried(null, timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : unreached(error));
  }
}

function refusal(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? `a redirect (${status}) is not followed` : `it answered ${status}`;
}

/** In words of our own: what the system says may hold the address. */
function unreached(error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
  if (code === 'ECONNREFUSED') return 'nobody listens there';
  if (code === 'ENOTFOUND') return 'there is no such host';
  return typeof code === 'string' ? `the connection failed (${code})` : 'the connection failed';
}
