import type { Pool } from '#lib/storage';

/** The channel on which the runs are named whose read models advanced. */
export const PROJECTED_CHANNEL = 'run_projected';
const INTERVAL_MS = 100;

/** Says which runs advanced: a hint, after the commit and a few times per second, as NOTIFY locks the whole database. */
export class ProjectedNotices {
  readonly #advanced = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(private readonly pool: Pool) {}

  announce(runId: string): void {
    this.#advanced.add(runId);
    this.#timer ??= setTimeout(() => this.#flush(), INTERVAL_MS);
  }

  /** Sends what is still to be said. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#flush();
    await this.#sending;
  }

  #flush(): void {
    this.#timer = undefined;
    const runIds = [...this.#advanced];
    this.#advanced.clear();
    if (runIds.length === 0) return;
    const sql = 'select pg_notify($1, run_id) from unnest($2::text[]) as run_id';
    // who listens polls as well, so a hint that is lost costs a moment and nothing else
    const send = () =>
      this.pool.query(sql, [PROJECTED_CHANNEL, runIds]).then(
        () => {},
        () => {},
      );
    this.#sending = this.#sending.then(send);
  }
}
