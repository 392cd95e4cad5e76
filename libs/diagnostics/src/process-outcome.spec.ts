import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { processOutcome } from './process-outcome.js';

interface Row {
  p: number;
  y: number;
  turns?: number;
  group?: number;
  step?: number;
}
const of = (rows: Row[], params = { threshold: 0.5, bins: 10 }) =>
  processOutcome(
    {
      process: Float64Array.from(rows, ({ p }) => p),
      success: Float64Array.from(rows, ({ y }) => y),
      turns: Float64Array.from(rows, ({ turns = 1 }) => turns),
      groupOf: Int32Array.from(rows, ({ group = 0 }) => group),
      trainingStep: Int32Array.from(rows, ({ step = 0 }) => step),
    },
    params,
  );
const four = [
  { p: 0.8, y: 1 },
  { p: 0.6, y: 0 },
  { p: 0.7, y: 1 },
  { p: 0.3, y: 0 },
];

describe('processOutcome', () => {
  it('says how scores and outcomes agree', () => {
    const { auroc, pearson, gap, brier, kendallTauB, trustGamma } = of(four);
    expect([auroc, gap, brier]).toEqual([1, expect.closeTo(0.3, 12), expect.closeTo(0.145, 12)]);
    expect(pearson).toBeCloseTo(0.8018, 4);
    // 4 concordant pairs of 6 without ties in p
    expect(kendallTauB).toBeCloseTo(4 / Math.sqrt(24), 12);
    expect(trustGamma).toBe(1);
  });

  it('counts false alarms and misses at the threshold', () => {
    const { falsePositiveRate, falseNegativeRate } = of([...four, { p: 0.5, y: 0 }, { p: 0.4, y: 1 }]);
    expect(falsePositiveRate).toBeCloseTo(2 / 3, 12);
    expect(falseNegativeRate).toBeCloseTo(1 / 3, 12);
  });

  it('measures calibration in bins, the last one holding 1', () => {
    // bin 9: 0.95 and 1 against 1 and 0; bin 0: 0.05 against 0
    expect(of([{ p: 0.95, y: 1 }, { p: 1, y: 0 }, { p: 0.05, y: 0 }]).ece).toBeCloseTo((0.95 + 0.05) / 3, 12); // prettier-ignore
  });

  it('trusts a judge less who likes failures better', () => {
    expect(of([{ p: 0.2, y: 1 }, { p: 0.7, y: 0 }]).trustGamma).toBeCloseTo(Math.exp(-0.5), 12); // prettier-ignore
  });

  it('looks inside groups: mixed ones, and those where only the judge differs', () => {
    const rows = [
      { p: 0.9, y: 1, group: 0 },
      { p: 0.1, y: 0, group: 0 },
      { p: 0.1, y: 1, group: 1 },
      { p: 0.9, y: 0, group: 1 },
      { p: 0.5, y: 0, group: 1 },
      { p: 0.2, y: 1, group: 2 },
      { p: 0.3, y: 1, group: 2 },
    ];
    const found = of(rows);
    expect(found).toMatchObject({ mixedGroups: 2, groupAuroc: 0.5, signAgreement: 2 / 5 });
    expect(found.pairInversionRate).toBeCloseTo(2 / 3, 12);
    expect(found.processOnlySignalGroups).toBeCloseTo(1 / 3, 12);
    // the best of each group succeeded in the first and the last; half of group 0, a third of group 1, all of group 2
    expect(found.selectionAccuracy).toBeCloseTo(2 / 3, 12);
    expect(found.selectionGain).toBeCloseTo(2 / 3 - (1 / 2 + 1 / 3 + 1) / 3, 12);
  });

  it('sees scores run away from outcomes', () => {
    const steps = [[0.5, 0.5], [0.6, 0.4], [0.5, 0.6], [0.9, 0.4]]; // prettier-ignore
    const rows = steps.flatMap(([p, y], step) =>
      Array.from({ length: 10 }, (_, i) => ({ p, y: i < 10 * y ? 1 : 0, step: 10 * step, turns: step + 1 })),
    );
    const found = of(rows);
    expect(found.steps).toEqual([0, 10, 20, 30]);
    // gaps 0, 0.2, −0.1, 0.5
    expect(found.gapDrawup).toBeCloseTo(0.6, 12);
    expect(found.gapDrawupStep).toBe(30);
    expect(found.lengthSlope).toBeCloseTo(0.1, 12);
  });

  it('takes length out of the correlation', () => {
    const rows = [1, 2, 3, 4].map((turns) => ({ p: turns / 10, y: turns > 2 ? 1 : 0, turns }));
    expect(of(rows).lengthCorrelation).toBeCloseTo(1, 12);
    // r_py = 0.8018, r_yT = 0, r_pT² = 2/7
    expect(of(four.map((row, i) => ({ ...row, turns: [1, 1, 2, 2][i] }))).partialCorrelation).toBeCloseTo(
      0.8018 / Math.sqrt(1 - 2 / 7),
      4,
    );
  });

  it('says nothing of a class that is missing, and leaves out what is not judged', () => {
    expect(of([{ p: 0.7, y: 1 }])).toMatchObject({ auroc: null, gap: null, falsePositiveRate: null, brier: expect.closeTo(0.09, 12) as number }); // prettier-ignore
    expect(of([...four, { p: NaN, y: 1 }, { p: 0.1, y: NaN }])).toEqual(of(four));
    expect(of([])).toMatchObject({ brier: null, ece: null, mixedGroups: 0, gapDrawup: null, steps: [] });
  });

  it('does not care about the order of trajectories', () => {
    const row = fc.record({ p: fc.constantFrom(0, 0.25, 0.5, 1), y: fc.constantFrom(0, 1), turns: fc.nat(4), group: fc.nat(2) }); // prettier-ignore
    fc.assert(
      fc.property(fc.array(row, { minLength: 1 }), (rows) => {
        const [there, back] = [of(rows), of(rows.toReversed())];
        for (const [name, value] of Object.entries(there)) {
          const other = back[name as keyof typeof back];
          if (typeof value === 'number') expect(other).toBeCloseTo(value, 9);
          else if (value === null) expect(other).toBeNull();
        }
      }),
    );
  });
});
