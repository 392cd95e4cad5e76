import { expect, it } from 'vitest';
import { decimate } from './decimate.js';

const curve = (...values: (number | null)[]) => values.map((value, trainingStep) => ({ trainingStep, value }));

it('leaves a short curve as it is', () => {
  const points = curve(1, 2, 3);
  expect(decimate(points, 3)).toBe(points);
});

it('keeps both ends and every peak', () => {
  const points = curve(
    ...Array.from({ length: 10_000 }, (_, i) => (i === 1234 ? 99 : i === 7777 ? -99 : Math.sin(i / 50))),
  );
  const kept = decimate(points, 100);
  expect(kept.length).toBeLessThanOrEqual(100);
  expect(kept[0].trainingStep).toBe(0);
  expect(kept.at(-1)!.trainingStep).toBe(9999);
  expect(kept.map(({ value }) => value)).toEqual(expect.arrayContaining([99, -99]));
  expect(kept).toEqual(kept.toSorted((a, b) => a.trainingStep - b.trainingStep));
});

it('passes over what could not be measured', () => {
  const values = Array.from({ length: 50 }, (_, i) => (i % 2 ? null : i));
  expect(decimate(curve(...values), 10).filter(({ value }) => value === null).length).toBeLessThanOrEqual(1);
});
