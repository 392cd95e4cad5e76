import { expect, it } from 'vitest';
import { creditStability, NO_STABILITY, stabilitySums } from './stability.js';
import { addSums } from './sums.js';

const found = (credit: readonly number[], move: readonly number[], unstable: readonly number[]) => ({
  credit: Float64Array.from(credit),
  maxMove: Float64Array.from(move),
  standardError: Float64Array.from(move, (value) => value / 2),
  signUnstable: Float64Array.from(unstable),
  skippedTrajectories: 0,
  meanMaxMove: null,
  signUnstableShare: null,
  relativeInstability: null,
});

it('means over the turns that were looked at, in whatever parts', () => {
  const one = stabilitySums(found([1, -1, 5], [0.2, 0.4, NaN], [0, 1, NaN]), { acrossGroups: false });
  const other = stabilitySums(found([2], [0.6], [0]), { acrossGroups: true });
  expect(one).toEqual({ turns: 2, acrossGroups: 0, maxMove: expect.closeTo(0.6, 12), standardError: expect.closeTo(0.3, 12), size: 2, signUnstable: 1 }); // prettier-ignore
  const { reasons, ...all } = creditStability(addSums(one, other));
  expect(all).toEqual({
    turns: 3,
    leftOut: 'groups',
    meanMaxMove: expect.closeTo(0.4, 12),
    signUnstableShare: 1 / 3,
    relativeInstability: expect.closeTo(0.15, 12),
  });
  expect(reasons).toEqual({});
});

it('says why it says nothing', () => {
  const nothing = creditStability(NO_STABILITY);
  expect(nothing).toMatchObject({ turns: 0, leftOut: 'trajectory', meanMaxMove: null, relativeInstability: null });
  expect(nothing.reasons['meanMaxMove']).toMatch(/groups of 3 or more/);
  const zero = creditStability(stabilitySums(found([0, 0], [0, 0], [0, 0]), { acrossGroups: false }));
  expect(zero).toMatchObject({ meanMaxMove: 0, relativeInstability: null });
  expect(zero.reasons).toEqual({ relativeInstability: 'all credit is zero' });
});
