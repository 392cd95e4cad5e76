import { expect, it } from 'vitest';
import { matrixCells } from './matrix-cells.js';
import { turnProfiles } from './turn-profiles.js';

it('fills both halves of the matrix and leaves the undefined empty', () => {
  const cells = matrixCells(
    ['x', 'y', 'z'],
    [
      { a: 'x', b: 'y', spearman: -0.5 },
      { a: 'x', b: 'z', spearman: null },
      { a: 'x', b: 'gone', spearman: 1 },
    ],
  );
  expect(cells.map(({ row, column, value }) => [row, column, value])).toEqual([
    [0, 1, -0.5],
    [1, 0, -0.5],
  ]);
});

it('puts profiles in spreads of their estimator, and leaves out one that never varies', () => {
  const detail = { meanByTurn: [2, null], countByTurn: [7, 3] };
  const { profiles, turns } = turnProfiles([
    { id: 'a', std: 4, detail },
    { id: 'flat', std: 0, detail: { meanByTurn: [0], countByTurn: [9] } },
    { id: 'silent', std: null, detail: {} },
  ]);
  expect(profiles).toEqual([{ estimator: 'a', mean: Float64Array.of(0.5, Number.NaN) }]);
  expect([...turns]).toEqual([9, 3]);
});
