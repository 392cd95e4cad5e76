import { expect, it } from 'vitest';
import { gatherRows } from './gather-rows.js';

it('takes rows in the order asked for, again where asked again', () => {
  const rows = Int32Array.of(1, 0, 1);
  expect(gatherRows({ values: Float64Array.of(4, 5) }, rows)).toEqual({ values: Float64Array.of(5, 4, 5) });
  expect(gatherRows({ values: ['x', null] }, rows)).toEqual({ values: [null, 'x', null] });
  expect(gatherRows({ values: Float64Array.of(1, 2, 3), offsets: Int32Array.of(0, 1, 3) }, rows)).toEqual({
    values: Float64Array.of(2, 3, 1, 2, 3),
    offsets: Int32Array.of(0, 2, 3, 5),
  });
});
