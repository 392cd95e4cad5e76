/** How long to wait between attempts, in milliseconds. */
export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
}

export const BACKOFF: Backoff = { baseMs: 250, capMs: 30_000 };

/** What a server asks for is honoured up to here. */
const MAX_ASKED_MS = 5 * 60_000;

/**
 * Exponential backoff with full jitter: a thousand trainers that lost the same server do not come back together.
 *
 * @param attempt failures so far, from 1
 * @param askedMs what the server asked for; waited in full, with jitter on top
 * @param random from [0, 1)
 */
export function waitMs(attempt: number, askedMs: number | null, random: number, { baseMs, capMs }: Backoff): number {
  const bound = Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  return Math.min(askedMs ?? 0, MAX_ASKED_MS) + random * bound;
}
