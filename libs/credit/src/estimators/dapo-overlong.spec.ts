import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { dapoOverlong } from './dapo-overlong.js';

const SMALL = { maxResponseLength: 20, overlongBufferLength: 8 };
const long = (responseLength: number, reward = 1) => ({ ...rollout('g', reward), signals: { responseLength } });
const penaltyOf = (length: number, params: object = SMALL) =>
  creditOf(dapoOverlong, [long(length, 0)], params).values[0];
const length = fc.integer({ min: 0, max: 60 });

describe('dapo-overlong', () => {
  it('gives the numbers of its page', () => {
    // the buffer begins at 12: 2 / 8, 8 / 8 and 12 / 8 of it
    const records = [10, 12, 14, 20, 24].map((responseLength) => long(responseLength));
    const { trajectoryAdvantage, columns } = estimateOf(dapoOverlong, records, SMALL);
    expectNumbers(columns.lengthPenalty, [0, 0, -0.25, -1, -1.5], 0);
    expectNumbers(columns.trajectoryReward, [1, 1, 0.75, 0, -0.5], 0);
    expect(trajectoryAdvantage).toEqual(columns.trajectoryReward);
    const clamped = estimateOf(dapoOverlong, records, { ...SMALL, clamp: 'buffer' });
    expectNumbers(clamped.columns.lengthPenalty, [0, 0, -0.25, -1, -1], 0);
  });

  it('has the lengths of the reference where none is named', () => {
    expect(penaltyOf(16384, {})).toBe(0);
    expect(penaltyOf(18432, {})).toBe(-0.5);
    expect(penaltyOf(20480, {})).toBe(-1);
  });

  it('grows with the length, in proportion to its factor, whatever the reward', () => {
    fc.assert(
      fc.property(
        length,
        length,
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: -9, max: 9 }),
        (a, b, factor, reward) => {
          // prettier-ignore
          expect(penaltyOf(Math.max(a, b))).toBeLessThanOrEqual(penaltyOf(Math.min(a, b)));
          expect(penaltyOf(a, { ...SMALL, penaltyFactor: factor })).toBeCloseTo(factor * penaltyOf(a), 12);
          expect(creditOf(dapoOverlong, [long(a, reward)], SMALL).values[0]).toBeCloseTo(reward + penaltyOf(a), 12);
        },
      ),
    );
  });

  it('clamped, is never more than its factor, and the same up to the maximum', () => {
    fc.assert(
      fc.property(length, (own) => {
        const clamped = penaltyOf(own, { ...SMALL, clamp: 'buffer' });
        expect(clamped).toBe(Math.max(penaltyOf(own), -1));
      }),
    );
  });

  it('may have a buffer that is longer than the maximum: even an empty response pays', () => {
    expect(penaltyOf(0, { maxResponseLength: 4, overlongBufferLength: 8 })).toBe(-0.5);
  });

  it('refuses lengths that are none', () => {
    expect(() => penaltyOf(1, { maxResponseLength: 0 })).toThrow(/maxResponseLength/);
    expect(() => penaltyOf(1, { overlongBufferLength: 0.5 })).toThrow(/overlongBufferLength/);
  });
});
