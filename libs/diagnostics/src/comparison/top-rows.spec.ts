import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { TopRows } from './top-rows.js';

it('keeps the strongest rows, the earlier of equals, and none without a score', () => {
  const scores = fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constant(NaN)), { maxLength: 40 });
  fc.assert(
    fc.property(scores, fc.nat(8), (list, count) => {
      const top = new TopRows(count);
      list.forEach((score, row) => top.offer(row, score));
      const sorted = list.map((score, row) => ({ row, score })).filter(({ score }) => score > 0);
      sorted.sort((a, b) => b.score - a.score || a.row - b.row);
      expect(top.descending()).toEqual(sorted.slice(0, count));
    }),
  );
});
