import { RecreditError } from '#lib/kernel';
import { expect, it } from 'vitest';
import { RateLimiter } from './rate-limiter.js';
import { NO_LIMITS, type KeyLimits } from './rate-limit.js';
import type { Principal } from './roles.js';

const aClock = (now = 0) => ({ now: () => now, pass: (seconds: number) => void (now += seconds * 1000) });
const aKey = (limits?: Partial<KeyLimits>, keyId = 'k'): Principal => ({
  keyId,
  projects: '*',
  roles: ['ingest'],
  limits: { requestsPerSecond: null, eventsPerSecond: null, ...limits },
});

/** How many requests get in before one is refused, and what that one is told. */
function rush(limiter: RateLimiter, key: Principal): { admitted: number; refusal: RecreditError | null } {
  for (let admitted = 0; admitted < 1000; admitted++) {
    try {
      limiter.assertWithin(key, 'requestsPerSecond');
    } catch (error) {
      return { admitted, refusal: error as RecreditError };
    }
    limiter.charge(key, 'requestsPerSecond', 1);
  }
  return { admitted: 1000, refusal: null };
}

it('lets in two seconds of the rate at once, then the rate', () => {
  const clock = aClock();
  const limiter = new RateLimiter({ requestsPerSecond: 5, eventsPerSecond: null }, clock.now);
  const { admitted, refusal } = rush(limiter, aKey());
  expect(admitted).toBe(10);
  expect(refusal).toMatchObject({
    code: 'rate.exceeded',
    status: 429,
    details: { limit: 'requestsPerSecond', perSecond: 5, retryAfterSeconds: 1 },
  });
  clock.pass(1);
  expect(rush(limiter, aKey()).admitted).toBe(5);
  clock.pass(3600);
  expect(rush(limiter, aKey()).admitted).toBe(10); // no more is saved up
});

it('holds the rate over time whatever a request costs: the debt is waited out, as Retry-After says', () => {
  const clock = aClock();
  const limiter = new RateLimiter({ requestsPerSecond: null, eventsPerSecond: 100 }, clock.now);
  let events = 0;
  for (let batches = 0; batches < 20; batches++) {
    limiter.assertWithin(aKey(), 'eventsPerSecond');
    limiter.charge(aKey(), 'eventsPerSecond', 1000);
    events += 1000;
    try {
      limiter.assertWithin(aKey(), 'eventsPerSecond');
    } catch (error) {
      clock.pass(Number((error as RecreditError).details.retryAfterSeconds));
    }
  }
  const seconds = clock.now() / 1000;
  expect(events).toBeLessThanOrEqual(100 * seconds + 200);
  expect(events).toBeGreaterThanOrEqual(100 * seconds - 100 * 21); // waits are whole seconds
});

it("keeps keys apart, and a key's own limit before the platform's", () => {
  const limiter = new RateLimiter({ requestsPerSecond: 1, eventsPerSecond: null }, aClock().now);
  expect(rush(limiter, aKey({}, 'a')).admitted).toBe(2);
  expect(rush(limiter, aKey({}, 'b')).admitted).toBe(2);
  expect(rush(limiter, aKey({ requestsPerSecond: 4 }, 'c')).admitted).toBe(8);
  expect(rush(limiter, aKey({ requestsPerSecond: 0 }, 'd')).refusal).toBeNull();
});

it('limits nobody where nothing is said, and follows a limit that was changed', () => {
  const limiter = new RateLimiter(NO_LIMITS, aClock().now);
  expect(rush(limiter, aKey()).refusal).toBeNull();
  expect(rush(limiter, aKey({ requestsPerSecond: 3 })).admitted).toBe(6);
  expect(rush(limiter, aKey({ requestsPerSecond: 4 })).admitted).toBe(8);
});

it('lets a slow key in at all: less than one a second', () => {
  const clock = aClock();
  const limiter = new RateLimiter({ requestsPerSecond: 0.1, eventsPerSecond: null }, clock.now);
  const { admitted, refusal } = rush(limiter, aKey());
  expect([admitted, refusal?.details.retryAfterSeconds]).toEqual([1, 1]); // anything in the bucket lets one in
  clock.pass(1);
  expect(rush(limiter, aKey())).toMatchObject({ admitted: 1, refusal: { details: { retryAfterSeconds: 10 } } });
});
