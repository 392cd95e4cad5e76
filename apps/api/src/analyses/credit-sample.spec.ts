import { expect, it } from 'vitest';
import { drawn } from './credit-sample.js';

const items = Array.from({ length: 1000 }, (_, i) => i);

it('keeps few items as they are', () => {
  expect(drawn([3, 1, 2], 3, 'a')).toEqual([3, 1, 2]);
});

it('draws exactly as many as are wanted, in their order, from everywhere, and the same again', () => {
  const kept = drawn(items, 100, 'a');
  expect(kept).toHaveLength(100);
  expect(kept).toEqual(kept.toSorted((a, b) => a - b));
  for (const from of [0, 250, 500, 750]) {
    const near = kept.filter((item) => item >= from && item < from + 250).length;
    expect(near).toBeGreaterThan(10); // 25 of 100 on average, and less than 11 in one of a thousand draws
  }
  expect(drawn(items, 100, 'a')).toEqual(kept);
  expect(drawn(items, 100, 'b')).not.toEqual(kept);
});
