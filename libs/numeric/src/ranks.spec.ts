import { expect, it } from 'vitest';
import { averageRanks } from './ranks.js';

it.each([
  [
    [10, 20, 20, 30],
    [1, 2.5, 2.5, 4],
  ],
  [
    [3, 1, 2],
    [3, 1, 2],
  ],
  [
    [5, 5, 5],
    [2, 2, 2],
  ],
  [
    [0, -0, -1],
    [2.5, 2.5, 1],
  ],
  [[], []],
])('ranks %j as %j', (values, ranks) => {
  expect([...averageRanks(Float64Array.from(values))]).toEqual(ranks);
});
