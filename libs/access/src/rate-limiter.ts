import { RecreditError } from '#lib/kernel';
import { NO_LIMITS, TokenBucket, type KeyLimits, type Limited } from './rate-limit.js';
import type { Principal } from './roles.js';

const MAX_REMEMBERED = 10_000;
const WHAT = { requestsPerSecond: 'requests', eventsPerSecond: 'events' } as const satisfies Record<Limited, string>;

/** Keeps every key to its rate, in this process: where several APIs run, each allows the whole of it. */
export class RateLimiter {
  readonly #buckets = new Map<string, TokenBucket>();

  /**
   * @param defaults for keys that have no limit of their own; null or 0: none
   * @param now milliseconds of a clock that does not jump
   */
  constructor(
    private readonly defaults: KeyLimits = NO_LIMITS,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @throws RecreditError `rate.exceeded`, with the whole seconds after which it is worth to come again */
  assertWithin(principal: Principal, limited: Limited): void {
    const bucket = this.#bucket(principal, limited);
    const retryAfterSeconds = bucket?.waitSeconds(this.now()) ?? 0;
    if (retryAfterSeconds === 0) return;
    throw new RecreditError(
      'rate.exceeded',
      `this key may bring ${bucket?.rate} ${WHAT[limited]} a second and has brought more; come again in ${retryAfterSeconds} s`,
      { limit: limited, perSecond: bucket?.rate, retryAfterSeconds },
    );
  }

  charge(principal: Principal, limited: Limited, amount: number): void {
    this.#bucket(principal, limited)?.take(amount, this.now());
  }

  /** null: no limit. A limit that was changed begins with a full bucket. */
  #bucket({ keyId, limits = NO_LIMITS }: Principal, limited: Limited): TokenBucket | null {
    const rate = limits[limited] ?? this.defaults[limited] ?? 0;
    if (rate === 0) return null;
    const id = `${keyId} ${limited}`;
    const known = this.#buckets.get(id);
    if (known?.rate === rate) return known;
    if (this.#buckets.size >= MAX_REMEMBERED) this.#buckets.clear();
    const bucket = new TokenBucket(rate, this.now());
    this.#buckets.set(id, bucket);
    return bucket;
  }
}
