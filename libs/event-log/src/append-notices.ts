import type { Pool } from 'pg';

/** The channel on which the runs that grew are named. */
export const APPEND_CHANNEL = 'run_appended';
const INTERVAL_MS = 50;

/**
 * Says which runs grew: a hint, never the delivery. After the commit and a few times per second: NOTIFY takes a lock on
 * the whole database when its transaction commits, and inside the appends it cost 65 % of them.
 */
export class AppendNotices {
  readonly #grown = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(private readonly pool: Pool) {}

  announce(runId: string): void {
    this.#grown.add(runId);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#sending = this.#sending.then(() => this.#send());
    }, INTERVAL_MS);
  }

  /** Sends what is still to be said. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#sending;
    await this.#send();
  }

  async #send(): Promise<void> {
    if (this.#grown.size === 0) return;
    const runIds = [...this.#grown];
    this.#grown.clear();
    // who listens polls as well, so a hint that is lost costs a second and nothing else
    await this.pool
      .query(`select pg_notify($1, id) from unnest($2::text[]) as id`, [APPEND_CHANNEL, runIds])
      .catch(() => {});
  }
}
