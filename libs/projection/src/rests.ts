const FIRST_REST_MS = 250;
const LONGEST_REST_MS = 30_000;

/** Runs that failed rest before they are tried again, each time twice as long, so that one of them cannot busy a worker. */
export class Rests {
  readonly #resting = new Map<string, { readonly lengthMs: number; readonly until: number }>();

  isResting(runId: string, now: number): boolean {
    return (this.#resting.get(runId)?.until ?? -Infinity) > now;
  }

  begin(runId: string, now: number): void {
    const before = this.#resting.get(runId)?.lengthMs;
    const lengthMs = before === undefined ? FIRST_REST_MS : Math.min(before * 2, LONGEST_REST_MS);
    this.#resting.set(runId, { lengthMs, until: now + lengthMs });
  }

  end(runId: string): void {
    this.#resting.delete(runId);
  }
}
