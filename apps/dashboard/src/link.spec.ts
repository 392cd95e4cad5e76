import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { linkState, lose, regain } from './link.js';

let isAway: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  isAway = true;
  vi.stubGlobal('fetch', async () => {
    if (isAway) throw new TypeError('Failed to fetch');
    return { ok: true };
  });
});

afterEach(() => {
  regain('requests');
  regain('subscriptions');
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it('is lost from the first way that is, until every way is back', () => {
  const { returns } = linkState();
  expect(linkState().lostAt).toBeNull();
  const lostAt = Date.now();
  lose('subscriptions');
  vi.advanceTimersByTime(500);
  lose('requests');
  expect(linkState()).toEqual({ lostAt, returns });
  regain('subscriptions');
  expect(linkState().lostAt).toBe(lostAt);
  regain('requests');
  expect(linkState()).toEqual({ lostAt: null, returns: returns + 1 });
  regain('requests'); // nothing was lost: nothing is asked for again
  expect(linkState().returns).toBe(returns + 1);
});

it('looks by itself whether the API is back, and stops looking then', async () => {
  const { returns } = linkState();
  lose('requests');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(linkState().lostAt).not.toBeNull();
  isAway = false;
  await vi.advanceTimersByTimeAsync(2000);
  expect(linkState()).toEqual({ lostAt: null, returns: returns + 1 });
  expect(vi.getTimerCount()).toBe(0);
});
