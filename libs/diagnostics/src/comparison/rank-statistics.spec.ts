import { auc, spearman } from '#lib/numeric';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ascending, classedCredit, noRanks, rankAgain, rankStatistics, weightedAuc } from './rank-statistics.js';

const GROUPS = 5;
const value = fc.integer({ min: -2, max: 2 }).map((n) => n / 2);
const rows = fc.array(fc.tuple(value, value, fc.nat(GROUPS - 1)), { maxLength: 25 });
const weights = fc.array(fc.nat(3), { minLength: GROUPS, maxLength: GROUPS });

it('gives under weights what the textbook gives for rows written out that often', () => {
  fc.assert(
    fc.property(rows, weights, (list, weight) => {
      const groupOf = Int32Array.from(list, ([, , group]) => group);
      const credit = Float64Array.from(list, ([x]) => x);
      const truth = Float64Array.from(list, ([, y]) => y);
      const ranks = noRanks(ascending(truth, groupOf));
      rankAgain(ranks, Int32Array.from(weight));
      const found = new Float64Array(4);
      const classed = classedCredit(ascending(credit, groupOf), truth);
      rankStatistics(classed, ranks, Int32Array.from(weight), found);
      expect(weightedAuc(classed, Int32Array.from(weight))).toEqual(found[1]);

      const repeated = list.flatMap((row) => new Array<typeof row>(weight[row[2]]).fill(row));
      const x = Float64Array.from(repeated, ([x]) => x);
      const y = Float64Array.from(repeated, ([, y]) => y);
      const useful = y.map((value) => (value > 0 ? 1 : -1));
      const harmful = y.map((value) => (value < 0 ? 1 : -1));
      const expected = [
        spearman(x, y),
        auc(x, y),
        auc(
          x.map((value) => -value),
          harmful,
        ),
        auc(x, useful),
      ];
      expected.forEach((number, i) => {
        if (Number.isNaN(number)) expect(found[i]).toBeNaN();
        else expect(found[i]).toBeCloseTo(number, 12);
      });
    }),
    { numRuns: 500 },
  );
});
