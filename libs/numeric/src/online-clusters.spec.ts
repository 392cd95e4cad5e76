import { expect, it } from 'vitest';
import { onlineClusters } from './online-clusters.js';

const near = (numbers: readonly number[]) => (row: number, first: number) =>
  Math.abs(numbers[row] - numbers[first]) <= 1;

it('lets a row join the first cluster whose first row it resembles', () => {
  // 2 resembles 1, which is no first row; the last resembles both first rows and joins the older cluster
  const { labels, count } = onlineClusters(new Int32Array(5), near([0, 1, 2, 3, 1]));
  expect([...labels]).toEqual([0, 0, 1, 1, 0]);
  expect(count).toBe(2);
});

it('opens clusters of their own for each group, numbered as they open', () => {
  const { labels } = onlineClusters(Int32Array.of(1, 0, 1, 0), near([5, 5, 5, 9]));
  expect([...labels]).toEqual([0, 1, 0, 2]);
});

it('depends on the order', () => {
  expect(onlineClusters(new Int32Array(3), near([1, 0, 2])).count).toBe(1);
  expect(onlineClusters(new Int32Array(3), near([0, 1, 2])).count).toBe(2);
});

it('is empty for no row', () => {
  expect(onlineClusters(new Int32Array(0), () => true)).toEqual({ labels: new Int32Array(0), count: 0 });
});
