import { listenTo, type Pool } from '#lib/storage';
import { APPEND_CHANNEL } from './append-notices.js';

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
 */
export function followAppends(
  pool: Pool,
  onRun: (runId: string | null) => void,
  { pollMs = 1_000 }: FollowOptions = {},
): Following {
  const poll = setInterval(() => onRun(null), pollMs);
  const listening = listenTo(pool, [APPEND_CHANNEL], { onListening: () => onRun(null), onNotice: onRun });
  return {
    close: async () => {
      clearInterval(poll);
      await listening.close();
    },
  };
}
