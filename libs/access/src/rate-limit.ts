/** How fast a key may be used, as stored with it. null: as the platform is set; 0: no limit. */
export interface KeyLimits {
  readonly requestsPerSecond: number | null;
  readonly eventsPerSecond: number | null;
}

/** What can be limited. */
export type Limited = keyof KeyLimits;

export const NO_LIMITS: KeyLimits = { requestsPerSecond: null, eventsPerSecond: null };

/** What may come at once after a pause, in seconds of the rate. */
const BURST_SECONDS = 2;

/**
 * A token bucket: it holds what `BURST_SECONDS` bring, and at least one. Whoever comes while anything is in it may take
 * what it turns out to cost, also more than there is: the debt is waited out by who comes next. So the rate holds over
 * time, whatever a single request costs.
 */
export class TokenBucket {
  #tokens: number;
  #at: number;

  /**
   * @param rate tokens a second
   * @param now in milliseconds, of any clock that does not jump
   */
  constructor(
    readonly rate: number,
    now: number,
  ) {
    this.#tokens = this.size;
    this.#at = now;
  }

  get size(): number {
    return Math.max(1, this.rate * BURST_SECONDS);
  }

  /** @returns the whole seconds after which there is something in it again; 0: there is */
  waitSeconds(now: number): number {
    this.#fill(now);
    return this.#tokens > 0 ? 0 : Math.floor(-this.#tokens / this.rate) + 1;
  }

  take(tokens: number, now: number): void {
    this.#fill(now);
    this.#tokens -= tokens;
  }

  #fill(now: number): void {
    this.#tokens = Math.min(this.size, this.#tokens + (Math.max(0, now - this.#at) / 1000) * this.rate);
    this.#at = Math.max(this.#at, now);
  }
}
