import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { rowsByKey } from './rows-by-key.js';

it('lists the rows of every key, the key seen first first', () => {
  const key = fc.oneof(fc.integer({ min: -2, max: 3 }), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));
  fc.assert(
    fc.property(fc.array(key), (list) => {
      const { keys, offsets, rows } = rowsByKey(Int32Array.from(list));
      const found = keys.map((each, l) => [each, [...rows.subarray(offsets[l], offsets[l + 1])]]);
      expect(found).toEqual([...Map.groupBy(list.keys(), (row) => list[row])]);
    }),
  );
});
