import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { APPEND_CHANNEL } from './append-notices.js';

const LONGEST_WAIT_MS = 5_000;

export interface FollowOptions {
  /** how often to say that any run may have grown: notices can be lost, events cannot */
  readonly pollMs?: number;
}

export interface Following {
  close(): Promise<void>;
}

/**
 * Says which run grew, as soon as its append is announced. `null` says that any run may have: at the start, after each
 * lost connection, and every `pollMs`, since a notice is a hint and never the delivery.
 *
 * @param connect gives a connected client of its own, as often as it is asked
 */
export function followAppends(
  connect: () => Promise<Client>,
  onRun: (runId: string | null) => void,
  { pollMs = 1_000 }: FollowOptions = {},
): Following {
  const closing = new AbortController();
  const poll = setInterval(() => onRun(null), pollMs);
  const listening = keepListening(connect, onRun, closing.signal);
  return {
    close: async () => {
      clearInterval(poll);
      closing.abort();
      await listening;
    },
  };
}

async function keepListening(
  connect: () => Promise<Client>,
  onRun: (runId: string | null) => void,
  closing: AbortSignal,
): Promise<void> {
  let waitMs = 0;
  while (!closing.aborted) {
    await sleep(waitMs, null, { signal: closing }).catch(() => {});
    if (closing.aborted) return;
    const client = await connect().catch(() => null);
    const listened = client && (await listen(client, onRun, closing));
    waitMs = listened ? 100 : Math.min(waitMs * 2 || 100, LONGEST_WAIT_MS);
  }
}

/** Listens until the connection is lost or nobody wants to know any more. @returns whether it came to listening at all */
async function listen(client: Client, onRun: (runId: string | null) => void, closing: AbortSignal): Promise<boolean> {
  const over = Promise.withResolvers<void>();
  client.on('error', () => over.resolve());
  client.on('end', () => over.resolve());
  closing.addEventListener('abort', () => over.resolve(), { once: true });
  if (closing.aborted) over.resolve();
  client.on('notification', ({ channel, payload }) => {
    if (channel === APPEND_CHANNEL && payload && !closing.aborted) onRun(payload);
  });
  try {
    await client.query(`listen ${APPEND_CHANNEL}`);
    if (!closing.aborted) onRun(null);
    await over.promise;
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
