import { setTimeout as sleep } from 'node:timers/promises';
import { escapeIdentifier } from 'pg';
import type { Pool } from './pool.js';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

export interface Listener {
  /** Told whenever it begins to hear: what was said before then may be lost. */
  readonly onListening: () => void;
  readonly onNotice: (payload: string, channel: string) => void;
}

export interface Listening {
  /** Nothing is heard any more, and the connection given up. */
  close(): Promise<void>;
}

/** Listens on channels, on a connection of the pool that is taken anew whenever it is lost. */
export function listenTo(pool: Pool, channels: readonly string[], listener: Listener): Listening {
  const closing = new AbortController();
  const done = keepListening(pool, channels, listener, closing.signal);
  return {
    close: async () => {
      closing.abort();
      await done;
    },
  };
}

async function keepListening(
  pool: Pool,
  channels: readonly string[],
  listener: Listener,
  closing: AbortSignal,
): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  while (!closing.aborted) {
    const heard = await listenOnce(pool, channels, listener, closing).catch(() => false);
    waitMs = heard ? FIRST_WAIT_MS : Math.min(waitMs * 2, LONGEST_WAIT_MS);
    await sleep(waitMs, null, { signal: closing }).catch(() => {});
  }
}

/** Until the connection is lost or nobody wants to know any more. @returns true: it came to listening */
async function listenOnce(
  pool: Pool,
  channels: readonly string[],
  { onListening, onNotice }: Listener,
  closing: AbortSignal,
): Promise<true> {
  const client = await pool.connect();
  const over = Promise.withResolvers<void>();
  const end = () => over.resolve();
  try {
    closing.addEventListener('abort', end);
    client.on('error', end).on('end', end);
    client.on('notification', ({ channel, payload = '' }) => {
      if (!closing.aborted) onNotice(payload, channel);
    });
    await client.query(channels.map((channel) => `listen ${escapeIdentifier(channel)}`).join(';'));
    if (closing.aborted) return true;
    onListening();
    await over.promise;
    return true;
  } finally {
    closing.removeEventListener('abort', end);
    client.release(true);
  }
}
