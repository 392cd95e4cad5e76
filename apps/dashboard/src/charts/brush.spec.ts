import { expect, it } from 'vitest';
import { areaBetween, boxOf, contains, isDrag } from './brush.js';

const grid = { left: 40, top: 10, width: 200, height: 100 };

it('takes a small movement for a click', () => {
  expect(isDrag([10, 10], [12, 90], 'x')).toBe(false);
  expect(isDrag([10, 10], [20, 10], 'x')).toBe(true);
  expect(isDrag([10, 10], [20, 11], 'xy')).toBe(false);
  expect(isDrag([20, 20], [10, 10], 'xy')).toBe(true);
});

it('makes the same area from whichever corner it was dragged', () => {
  const area = { x: [1, 4], y: [-2, 3] };
  expect(areaBetween([1, 3], [4, -2])).toEqual(area);
  expect(areaBetween([4, -2], [1, 3])).toEqual(area);
});

it('draws no further than the grid reaches, and a stretch from its top to its bottom', () => {
  expect(boxOf({ x: [0, 90], y: [50, 500] }, grid, 'xy')).toEqual({ left: 40, top: 50, width: 50, height: 60 });
  expect(boxOf({ x: [60, 90], y: [50, 51] }, grid, 'x')).toEqual({ left: 60, top: 10, width: 30, height: 100 });
});

it('contains what lies on its edge', () => {
  const area = areaBetween([0, 0], [1, 1]);
  expect([contains(area, [1, 0]), contains(area, [1.1, 0]), contains(area, [0.5, -0.1])]).toEqual([true, false, false]);
});
