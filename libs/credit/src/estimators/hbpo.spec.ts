import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { hbpo } from './hbpo.js';

/** The pi of the code. */
const PI = 31_416 / 10_000;

const within = (outcome: number, tokenBudget: number, tokenCount: number, group = 'g') => ({
  ...rollout(group, outcome),
  signals: { tokenBudget, tokenCount },
});

/** The example of the methods. */
const four = () => [within(1, 512, 400), within(1, 512, 1200), within(1, 2048, 1200), within(0, 2048, 900)];
const groups = fc
  .array(fc.tuple(fc.boolean(), fc.constantFrom(512, 1024), fc.nat({ max: 5000 })), { minLength: 1, maxLength: 6 })
  .map((drawn) => drawn.map(([isRight, budget, tokens]) => within(Number(isRight), budget, tokens)));

describe('hbpo', () => {
  it('gives the numbers of its page', () => {
    const { columns, trajectoryAdvantage } = estimateOf(hbpo, four());
    expectNumbers(columns.trajectoryReward, [0.980785, 0.827166, Math.SQRT1_2, 0]);
    expectNumbers(columns.intraAdvantage, [-0.07681, -0.07681, -0.353553, -0.353553]);
    expectNumbers(trajectoryAdvantage, [0.860026, 0.451199, -0.145061, -2.02689]);
  });

  it('draws its lines at the budget and at the longest response', () => {
    const rewards = (...records: ReturnType<typeof within>[]) => estimateOf(hbpo, records).columns.trajectoryReward;
    const promise = Math.cos((Math.PI * 512) / 8192);
    expectNumbers(rewards(within(1, 512, 512), within(1, 512, 0)), [promise, promise], 1e-12);
    expectNumbers(rewards(within(1, 512, 4096), within(1, 512, 4097)), [-0.0001 * (4096 - 512), 0], 1e-9);
  });

  it('never pays a budget more than it promises, and 0 only where all of it is right and within', () => {
    fc.assert(
      fc.property(groups, (records) => {
        const intra = estimateOf(hbpo, records).columns.intraAdvantage as number[];
        records.forEach(({ signals }, i) => {
          const same = records.filter((other) => other.signals.tokenBudget === signals.tokenBudget);
          const isWhole = same.every(
            ({ outcomeReward, signals: own }) => outcomeReward === 1 && own.tokenCount <= own.tokenBudget,
          );
          expect(intra[i]).toBeLessThanOrEqual(1e-12);
          expect(Math.abs(intra[i]) < 1e-12).toBe(isWhole);
        });
      }),
    );
  });

  it('compares with the group in a sum of zero', () => {
    fc.assert(
      fc.property(groups, fc.constantFrom(0, 1), (records, ddof) => {
        const inter = estimateOf(hbpo, records, { ddof }).columns.interAdvantage as number[];
        expect(inter.reduce((sum, a) => sum + a, 0)).toBeCloseTo(0, 6);
      }),
    );
  });

  it('gives exactly 0 to a group that keeps one budget', () => {
    expect([...creditOf(hbpo, [within(1, 512, 100), within(1, 512, 400)]).values]).toEqual([0, 0]);
  });

  it('computes what the code does on request', () => {
    const { columns, trajectoryAdvantage } = estimateOf(hbpo, [within(1, 512, 1024), within(-1, 512, 9), within(0, 512, 9)], { variant: 'released' }); // prettier-ignore
    // min(4 cos(3.1416 · 1024 / 8192) − 512 / 4096, 4 cos(3.1416 · 512 / 8192)), −1 for the format, 0 for wrong
    const right = 4 * Math.cos((PI * 1024) / 8192) - 0.125;
    expectNumbers(columns.trajectoryReward, [right, -1, 0], 1e-12);
    const mean = (right - 1) / 3;
    const std = Math.sqrt(((right - mean) ** 2 + (-1 - mean) ** 2 + mean ** 2) / 2);
    const intra = mean - 4 * Math.cos((PI * 512) / 8192);
    expectNumbers((trajectoryAdvantage as number[])[0], (right - mean) / (std + 1e-6) + 2 * intra, 1e-9);
  });

  it('gives a group of one what its budget lacks, or in the released form its reward or nothing', () => {
    const alone = [within(1, 512, 100)];
    expectNumbers(creditOf(hbpo, [within(0, 512, 100)]).values, [-Math.cos((Math.PI * 512) / 8192)], 1e-12);
    expectNumbers(
      creditOf(hbpo, alone, { variant: 'released' }).values,
      [4 * Math.cos((PI * 100) / 8192) - 412 / 4096],
      1e-5,
    );
    expectNumbers(creditOf(hbpo, alone, { variant: 'released', singleton: 'zero' }).values, [0], 0);
  });
});
