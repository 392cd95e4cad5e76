import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout, times } from './behaviour.fixture.js';
import { lengthReward, lengthRewardDiagnostic } from './length-reward.js';

const long = (id: string, group: string, outcome: number, tokenCount: number, signals = {}) =>
  rollout(id, group, outcome, [{ signals: { tokenCount } }], signals);

it('sees inside groups what over all is hidden', () => {
  // longer is better in either group, but the short group is the easy one
  const records = [long('a', 'g', 1, 20), long('b', 'g', 0, 10), long('c', 'h', 1, 120), long('d', 'h', 0, 110), long('e', 'h', 0, 110)]; // prettier-ignore
  const found = lengthReward(trajectoryBatch(records), 120);
  // each group: (ℓ − ℓ̄) is 10 · (R − R̄), so the pooled correlation is 1
  expect(found.pooledWithinCorrelation).toBeCloseTo(1, 12);
  expect(found.perGroup).toEqual([expect.closeTo(1, 12), expect.closeTo(1, 12)]);
  expect(found.between).toBeLessThan(0.2);
  expect(found).toMatchObject({ meanLengthSuccess: 70, truncatedShare: 0.2 });
  expect(found.meanLengthFailure).toBeCloseTo(230 / 3, 12);
});

it('says null for flat rewards, and counts flags where no limit is known', () => {
  const records = [long('a', 'g', 1, 20, { truncated: true }), long('b', 'g', 1, 10, { truncated: false })];
  expect(lengthReward(trajectoryBatch(records), null)).toMatchObject({
    pooledWithinCorrelation: null,
    meanLengthFailure: null,
    truncatedShare: 0.5,
  });
});

const groupOf = (success: number, failure: number) => [long('a', 'g', 1, success), long('b', 'g', 0, failure)];

it('warns of a reward that follows length in either direction', () => {
  const run = (records: readonly (readonly ReturnType<typeof long>[])[]) =>
    diagnoseRecords(lengthRewardDiagnostic, records);
  const shorter = times(16, groupOf(10, 100));
  const found = run([shorter, shorter, shorter]);
  expect(found.alerts).toMatchObject([{ rule: 'length-is-reward', level: 'warn', openedAt: 2 }]);
  expect(found.sentence).toBe('inside a group length and outcome correlate with −1, over all with −1; successes take 10 tokens, failures 100'); // prettier-ignore
  const even = times(16, [...groupOf(10, 10), long('c', 'g', 1, 20), long('d', 'g', 0, 20)]);
  expect(run([even, even, even]).alerts).toEqual([]);
});

it('is critical when long successes on hard tasks shrink and hard tasks are solved less', () => {
  const hard = (length: number, solved: number) =>
    times(16, [0, 1, 2, 3].map((i) => long(`${i}`, 'g', i < solved ? 1 : 0, length))); // prettier-ignore
  const steps = (last: number) => [...Array.from({ length: 5 }, () => hard(100, 2)), ...Array.from({ length: 4 }, () => hard(last, 1))]; // prettier-ignore
  const rules = (last: number) => diagnoseRecords(lengthRewardDiagnostic, steps(last)).alerts.map(({ rule }) => rule);
  expect(rules(40)).toEqual(['length-collapse']);
  expect(rules(60)).toEqual([]);
  const early = diagnoseRecords(lengthRewardDiagnostic, steps(40)).steps.slice(0, 5);
  expect(early.map(({ values }) => values['lengthCollapseRatio'])).toEqual([null, null, null, null, null]);
});

it('says that lengths are missing', () => {
  expect(diagnoseRecords(lengthRewardDiagnostic, [[rollout('a', 'g', 1)]]).reasons).toMatchObject({
    pooledWithinCorrelation: 'needs turn.tokenCount or tokens',
  });
});
