import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, flat, rollout } from '../estimator.fixture.js';
import { spae, stepPotential } from './spae.js';

/** A rollout probed after each turn: accuracy and confidence of a forced answer. */
const probed = (success: boolean, ...probes: [accuracy: number, confidence: number][]) => ({
  ...rollout('g', 0, probes.map(([probeAccuracy, probeConfidence]) => ({ signals: { probeAccuracy, probeConfidence } }))), // prettier-ignore
  success,
});

/** The example of the methods. */
const two = () => [probed(true, [0.1, 0.3], [0.6, 0.7], [0.98, 0.99]), probed(false, [0.97, 0.98], [0.05, 0.9])];

const probe = fc.tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 8 }));
const batch = fc
  .array(fc.tuple(fc.boolean(), fc.array(probe, { minLength: 1, maxLength: 4 })), { minLength: 1, maxLength: 5 })
  .map((drawn) =>
    drawn.map(([success, probes]) => probed(success, ...probes.map(([a, c]): [number, number] => [a / 8, c / 8]))),
  );

describe('spae', () => {
  it('has a potential of 1 for right and sure, -1 for wrong and sure, 0 for unsure', () => {
    expect([stepPotential(1, 1), stepPotential(0, 1), stepPotential(0, 0)]).toEqual([1, -1, 0]);
  });

  it('gives the numbers of its page', () => {
    const { columns, turnAdvantage } = estimateOf(spae, two());
    expectNumbers(columns.turnPotential, [-0.205, 0.23, 0.9553, 0.9309, -0.8075], 1e-9);
    expectNumbers(columns.deltaPotential, [0, 0.435, 0.7253, 0, -1.7384], 1e-9);
    expect(columns.firstSaturatedTurn).toEqual([2, -1]);
    expect(columns.rightToWrong).toEqual([0, 1]);
    expectNumbers(turnAdvantage, [0.530291, 0.816349, 1.037366, -0.932686, -1.451321]);
  });

  it('is standardised over the batch', () => {
    fc.assert(
      fc.property(batch, fc.constantFrom(0, 1), (records, ddof) => {
        const { values } = creditOf(spae, records, { ddof, epsilon: 0 });
        expect(values.reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 9);
        const squares = values.reduce((sum, a) => sum + a * a, 0);
        if (squares > 0) expect(squares / (values.length - ddof)).toBeCloseTo(1, 6);
      }),
    );
  });

  it('damps only what comes after saturation, and only as far as asked', () => {
    const records = [probed(true, [1, 1], [1, 1]), probed(false, [0, 0], [0, 0])];
    const signs = (saturationDamping: number) => creditOf(spae, records, { saturationDamping, bonusWeight: 0 }).values;
    const [before, after] = signs(0.5);
    expect(after).toBeLessThan(before);
    expect(signs(0)[0]).toBeCloseTo(signs(0)[1], 12);
  });

  it('gives exactly 0 where outcomes agree and no potential moves', () => {
    const equal = [probed(true, [0.5, 0.5], [0.5, 0.5]), probed(true, [0.2, 0.3])];
    expect([...creditOf(spae, equal).values].map(Math.abs)).toEqual([0, 0, 0]);
  });

  it('says nothing about a turn that is alone', () => {
    expect([...creditOf(spae, [probed(true, [1, 1])]).values]).toEqual([0]);
    expect(flat(estimateOf(spae, [probed(false, [1, 1])]).columns.rightToWrong)).toEqual([1]);
  });

  it('places changes of potential inside their group on request', () => {
    const other = two().map((record) => ({ ...record, id: `h ${record.id}`, group: 'h' }));
    const wide = [probed(true, [0, 1], [1, 1]), ...other];
    const byGroup = creditOf(spae, wide, { statsScope: 'group' }).values;
    const byBatch = creditOf(spae, wide).values;
    expect(byGroup[2]).not.toBeCloseTo(byBatch[2], 3);
  });
});
