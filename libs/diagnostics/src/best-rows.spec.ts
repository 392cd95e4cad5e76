import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { bestRows } from './best-rows.js';

it('has the rows of a stable sort, the highest score first', () => {
  const score = fc.oneof(fc.constant(NaN), fc.integer({ min: -2, max: 2 }), fc.double({ noNaN: true }));
  fc.assert(
    fc.property(fc.array(score), fc.integer({ min: 1, max: 6 }), (scores, most) => {
      const sorted = [...scores.keys()]
        .filter((row) => !Number.isNaN(scores[row]))
        .sort((a, b) => Number(scores[b] > scores[a]) - Number(scores[b] < scores[a]));
      expect(bestRows(scores, most)).toEqual(sorted.slice(0, most));
    }),
  );
});
