import { expect, it } from 'vitest';
import { stretchOf, textOf } from './step-range.js';

it('reads a stretch from the address, cut to the training steps that there are', () => {
  expect(stretchOf('10..25', [0, 39])).toEqual([10, 25]);
  expect(stretchOf('10..25', [12, 20])).toEqual([12, 20]);
  for (const nothing of [undefined, '', '25', '25..10', '50..60', 'a..b', '-3..7', '1..2..3']) {
    expect(stretchOf(nothing, [0, 39]), nothing).toBeUndefined();
  }
});

it('writes whole steps, and nothing where it is all there is', () => {
  expect(textOf([9.6, 24.4], [0, 39])).toBe('10..24');
  expect(textOf([-4, 12], [0, 39])).toBe('0..12');
  expect(textOf([-1, 39.4], [0, 39])).toBeUndefined();
  expect(textOf([7.1, 7.3], [0, 39])).toBeUndefined();
  expect(stretchOf(textOf([9.6, 24.4], [0, 39]), [0, 39])).toEqual([10, 24]);
});
