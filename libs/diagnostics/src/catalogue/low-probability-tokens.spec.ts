import { expect, it } from 'vitest';
import { diagnoseSteps, times } from '../diagnose-steps.fixture.js';
import { tokenRecords } from '../token-records.fixture.js';
import { lowProbabilityTokens, lowProbabilityTokensDiagnostic } from './low-probability-tokens.js';

const OPTIONS = { thresholds: [0.01, 0.1], sparks: ['wait'], negativeFraction: 0.5 };
const found = (probabilities: number[], credit: number[], texts: (string | null)[] | null = null) =>
  lowProbabilityTokens(
    { credit: Float64Array.from(credit), logprob: Float64Array.from(probabilities, Math.log), mask: null, texts },
    OPTIONS,
  );

it('counts a rare token below every threshold that it is below', () => {
  expect(found([0.005, 0.05, 0.5, 0.9], [-3, 1, 1, 1]).byThreshold).toEqual([
    { threshold: 0.01, count: 1, share: 0.25, meanAdvantage: -3, negativePressure: 1 },
    { threshold: 0.1, count: 2, share: 0.5, meanAdvantage: -1, negativePressure: 0.75 },
  ]);
});

it('knows a spark by its trimmed text in lower case', () => {
  const texts = [' Wait', 'WAIT\n', 'waiting', '\twait', null];
  expect(found([0.5, 0.05, 0.5, 0.2, 0.9], [1, -1, 1, 2, 1], texts)).toMatchObject({
    sparkCount: 3,
    sparkPerThousand: 600,
    sparkMeanProb: expect.closeTo(0.25, 12),
    sparkLowProbShare: 1 / 3,
    sparkNegativePressure: 0.25,
  });
});

it('lets Lp-Reg touch none rather than one', () => {
  expect(found([0.5, 0.5, 0.5], [-1, -1, -1]).regularisedCount).toBe(0);
  expect(found(times(4, 0.5), times(4, -1)).regularisedCount).toBe(2);
});

/** 1,000 tokens of which so many are rare, or say "wait". */
function step(rare: number, advantage: number, sparks = 0, length = 1000) {
  const logprob = [...times(rare, Math.log(0.05)), ...times(length - rare, -0.1)];
  const loggedAdvantage = [...times(rare, advantage), ...times(length - rare, 1)];
  return { records: tokenRecords({ logprob, loggedAdvantage, text: [...times(sparks, 'wait'), ...times(length - sparks, 'so')] }) }; // prettier-ignore
}

it('warns when rare tokens are pushed out, not when they are learned', () => {
  const rules = (late: number, advantage: number) =>
    diagnoseSteps(lowProbabilityTokensDiagnostic, [...times(5, step(100, advantage)), ...times(4, step(late, advantage))]).alerts.map(({ rule }) => rule); // prettier-ignore
  expect(rules(20, -1)).toEqual(['pushed-out']);
  expect(rules(20, 1)).toEqual([]);
  expect(rules(40, -1)).toEqual([]);
});

it('notes fewer sparks where answers get shorter too', () => {
  const rules = (length: number) =>
    diagnoseSteps(lowProbabilityTokensDiagnostic, [...times(5, step(10, 1, 100, 1500)), ...times(4, step(10, 1, 20, length))]).alerts.map(({ rule }) => rule); // prettier-ignore
  expect(rules(1200)).toEqual(['fewer-sparks']);
  expect(rules(1600)).toEqual([]);
});

it('says why there are no sparks', () => {
  const records = tokenRecords({ logprob: [-1], loggedAdvantage: [1] });
  const { values, reasons } = diagnoseSteps(lowProbabilityTokensDiagnostic, [{ records }]);
  expect(values['sparkPerThousand']).toBeNull();
  expect(reasons['sparkPerThousand']).toBe('the text of tokens was not recorded');
});
