import { expect, it } from 'vitest';
import { diagnoseSteps } from '../diagnose-steps.fixture.js';
import { tokenRecords } from '../token-records.fixture.js';
import { entropyCovariance, entropyCovarianceDiagnostic } from './entropy-covariance.js';

const OPTIONS = { clipCovLow: 1, clipCovHigh: 5, klCovPercent: 0.2 };
const LOGPROBS = [-0.1, -2.3, -0.7, -4.8];

it('gives the example of the method', () => {
  const tokens = { credit: Float64Array.of(1, 1, -1, -1), logprob: Float64Array.from(LOGPROBS), mask: null };
  const { tokenCovariance, covariance, bandCount, topMean } = entropyCovariance(tokens, OPTIONS);
  [1.875, -0.325, -1.275, 2.825].forEach((c, k) => expect(tokenCovariance[k]).toBeCloseTo(c, 12));
  expect(covariance).toBeCloseTo(0.775, 12);
  expect(bandCount).toBe(2);
  expect(topMean).toBeCloseTo(2.825, 12);
});

it('takes 0.2 for percent, and no token that the mask leaves out', () => {
  const n = 2_000;
  const credit = Float64Array.from({ length: n + 1 }, (_, k) => (k < n ? (k % 2 ? 1 : -1) : 1e9));
  const logprob = Float64Array.from({ length: n + 1 }, (_, k) => (k % 2 ? 0 : -2));
  const mask = Float64Array.from({ length: n + 1 }, (_, k) => (k < n ? 1 : 0));
  expect(entropyCovariance({ credit, logprob, mask }, OPTIONS)).toMatchObject({
    tokenCount: n,
    topCount: 4,
    covariance: 1,
    correlation: 1,
    topShareOfPositive: 4 / n,
  });
});

const tokens = (sign: number) =>
  tokenRecords({ logprob: [...LOGPROBS, ...LOGPROBS], loggedAdvantage: [1, 1, -1, -1, 1, 1, -1, -1].map((a) => sign * a) }); // prettier-ignore
const run = (sign: number, entropyOf: (step: number) => number) =>
  diagnoseSteps(
    entropyCovarianceDiagnostic,
    Array.from({ length: 25 }, (_, step) => ({ records: tokens(sign), metrics: { entropy: entropyOf(step) } })),
  );

it('warns after twenty steps that ate entropy while it halves fast', () => {
  const falling = run(1, (step) => 0.9 ** step);
  expect(falling.alerts).toMatchObject([{ rule: 'eats-entropy', openedAt: 21 }]);
  expect(falling.values).toMatchObject({ covariance: expect.closeTo(0.775, 6), entropyFallsFast: 1 });
});

it('does not where the covariance is negative or entropy stays', () => {
  expect(run(-1, (step) => 0.9 ** step).alerts).toEqual([]);
  expect(run(1, () => 1).alerts).toEqual([]);
});

it("takes GRPO's advantage where none was logged, and says so", () => {
  const records = tokenRecords({ logprob: [-3, -3] }, { logprob: [-1, -1] });
  const { values, sentence } = diagnoseSteps(entropyCovarianceDiagnostic, [{ records }]);
  expect(values['creditIsLogged']).toBe(0);
  // A ±1/√2 with the group's sample deviation of 1/√2, ℓ ±1 about −2
  expect(values['covariance']).toBeCloseTo(Math.SQRT1_2, 5);
  expect(sentence).toMatch(/by GRPO's advantage where none was logged/);
});
