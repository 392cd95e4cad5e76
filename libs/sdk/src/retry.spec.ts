import { expect, it } from 'vitest';
import { waitMs } from './backoff.js';
import { noAnswer, outcomeOf } from './problem.js';

const backoff = { baseMs: 100, capMs: 1_000 };
const outcome = (status: number, body = '{"code":"c","detail":"d","expected":3}', retryAfter: string | null = null) =>
  outcomeOf(status, body, retryAfter, Date.parse('2026-01-01T00:00:00Z'));

it('waits twice as long after each failure, up to a bound, with full jitter, and as long as the server asked', () => {
  expect([1, 2, 3, 4, 5, 500].map((attempt) => waitMs(attempt, null, 0.5, backoff))).toEqual([
    50, 100, 200, 400, 500, 500,
  ]);
  expect(waitMs(5, null, 0, backoff)).toBe(0);
  expect(waitMs(1, 2_000, 0.5, backoff)).toBe(2_050);
  expect(waitMs(1, 86_400_000, 0, backoff)).toBe(300_000);
});

it.each([
  [408, 'again'],
  [429, 'again'],
  [500, 'again'],
  [503, 'again'],
  [409, 'conflict'],
  [413, 'refused'],
  [422, 'refused'],
  [400, 'blocked'],
  [401, 'blocked'],
  [403, 'blocked'],
  [404, 'blocked'],
])('sorts %i as %s', (status, kind) => {
  expect(outcome(status)).toMatchObject({
    kind,
    problem: { status, code: 'c', detail: 'd', details: { expected: 3 } },
  });
});

it('reads Retry-After in seconds and as a date, and leaves nonsense out', () => {
  const afterMs = (value: string) => (outcome(429, '{}', value) as { afterMs: number | null }).afterMs;
  expect(['7', 'Thu, 01 Jan 2026 00:00:09 GMT', 'soon'].map(afterMs)).toEqual([7_000, 9_000, null]);
});

it('takes the words of a proxy for want of a problem document', () => {
  expect(outcome(502, '<html>Bad Gateway</html>')).toMatchObject({
    problem: { code: 'http.502', detail: '<html>Bad Gateway</html>' },
  });
});

it('tells what stood behind a failed fetch', () => {
  const error = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
  expect(noAnswer(error)).toMatchObject({ kind: 'again', problem: { detail: 'fetch failed: connect ECONNREFUSED' } });
});
