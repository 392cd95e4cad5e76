import { expect, it } from 'vitest';
import { areaOf, areaText, leastAgreeing, pointsIn } from './area.js';

it('reads back what it wrote, and quadrants by their names', () => {
  const area = { x: [-0.1234567, 2], y: [0, 1000.4] } as const;
  expect(areaText(area)).toBe('-0.123,2,0,1000');
  expect(areaOf(areaText(area))).toEqual({ x: [-0.123, 2], y: [0, 1000] });
  const quadrant = areaOf('above-below')!;
  expect(quadrant.x[0]).toBeGreaterThan(0);
  expect(quadrant.y[1]).toBeLessThan(0);
  for (const nothing of [undefined, '', 'above', 'above-beside', '1,2,3', '2,1,0,1', 'a,b,c,d']) {
    expect(areaOf(nothing), nothing).toBeNull();
  }
});

it('finds the points of an area, those first on which the two differ most in their own spreads', () => {
  const points = { x: Float64Array.of(1, 2, 0, 3), y: Float64Array.of(10, -10, 0, -30) };
  const spreads = { x: 1, y: 10 };
  expect(pointsIn(points, areaOf('above-below')!, spreads)).toEqual([3, 1]);
  expect(pointsIn(points, { x: [0, 2], y: [-10, 10] }, spreads)).toEqual([1, 0, 2]);
  // 3 against 2.9 spreads apart, though the second differs more in numbers
  const close = { x: Float64Array.of(0.3, 0.2), y: Float64Array.of(0, -9) };
  expect(pointsIn(close, { x: [0, 1], y: [-10, 0] }, { x: 0.1, y: 10 })).toEqual([0, 1]);
});

it('begins with the two that agree least', () => {
  const pairs = [
    { a: 'a', b: 'b', spearman: 0.2 },
    { a: 'a', b: 'c', spearman: -0.3 },
    { a: 'b', b: 'c', spearman: null },
  ];
  expect(leastAgreeing(['a', 'b', 'c'], pairs)).toEqual(['a', 'c']);
  expect(leastAgreeing(['a', 'b'], [])).toEqual(['a', 'b']);
  expect(leastAgreeing(['a'], [])).toBeNull();
});
