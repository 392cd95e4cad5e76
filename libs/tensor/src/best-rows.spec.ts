import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keepRow, noRows, sortedPlaces } from './best-rows.js';

it('the best rows are those of a sort, of equal values the first', () => {
  const few = fc.integer({ min: -4, max: 4 });
  fc.assert(
    fc.property(fc.array(fc.tuple(few, few), { maxLength: 60 }), fc.integer({ min: 1, max: 12 }), (values, k) => {
      const best = noRows(2, k);
      values.forEach((each, row) => {
        for (const query of [0, 1]) if (each[query] > best.least[query]) keepRow(best, query, row, each[query]);
      });
      for (const query of [0, 1]) {
        const order = [...values.keys()].sort((a, b) => values[b][query] - values[a][query] || a - b).slice(0, k);
        const places = [...sortedPlaces(best, query)];
        expect(places.map((place) => best.rows[place])).toEqual(order);
        expect(places.map((place) => best.values[place])).toEqual(order.map((row) => values[row][query]));
      }
    }),
  );
});
