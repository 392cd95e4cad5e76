/**
 * Works on several runs at once and on each run once at a time. A run that is added while it is worked on is worked on
 * again afterwards, behind those that wait.
 */
export class RunQueue {
  readonly #waiting = new Set<string>();
  readonly #working = new Map<string, Promise<void>>();
  #closed = false;

  /** @param work must not reject */
  constructor(
    private readonly work: (runId: string) => Promise<void>,
    private readonly concurrency: number,
  ) {}

  add(runId: string): void {
    if (this.#closed) return;
    this.#waiting.add(runId);
    this.#fill();
  }

  /** Begins nothing any more, and returns when what was begun is done. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#waiting.clear();
    await Promise.all(this.#working.values());
  }

  #fill(): void {
    for (const runId of this.#waiting) {
      if (this.#working.size >= this.concurrency) return;
      if (this.#working.has(runId)) continue;
      this.#waiting.delete(runId);
      const done = this.work(runId).finally(() => {
        this.#working.delete(runId);
        this.#fill();
      });
      this.#working.set(runId, done);
    }
  }
}
