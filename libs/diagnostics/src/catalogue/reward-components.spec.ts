import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout, times } from './behaviour.fixture.js';
import { fittedComponents, rewardComponents, rewardComponentsDiagnostic } from './reward-components.js';

type Parts = Record<string, number>;
const paid = (id: string, reward: number, parts: Parts, group = 'g') => rollout(id, group, reward, [{}], parts);
const batchOf = (records: readonly ReturnType<typeof paid>[]) => trajectoryBatch(records);

const PARTS: readonly Parts[] = [
  { accuracy: 1, formatScore: 1 },
  { accuracy: 1, formatScore: 0 },
  { accuracy: 0, formatScore: 1 },
  { accuracy: 0, formatScore: 1 },
];
const sumOf = (weight: number) => PARTS.map((parts, i) => paid(`${i}`, parts['accuracy'] + weight * parts['formatScore'], parts)); // prettier-ignore

it('splits the variance by hand', () => {
  const found = rewardComponents(batchOf(sumOf(0.5)), [
    { name: 'accuracy', weight: 1 },
    { name: 'formatScore', weight: 0.5 },
  ]);
  // R = 1.5, 1, .5, .5: variance .171875; Cov(accuracy, R) = .1875, Cov(format / 2, R) = −.015625
  expect(found.totalVariance).toBeCloseTo(0.171875, 12);
  expect(found.share).toEqual([expect.closeTo(0.1875 / 0.171875, 12), expect.closeTo(-0.015625 / 0.171875, 12)]);
  expect(found.deadGroupShare).toEqual([0, 0]);
});

it('finds the weights of parts that add up to the outcome, and gives up where they do not', () => {
  const found = fittedComponents(batchOf(sumOf(0.5)))!;
  expect(found.map(({ name }) => name)).toEqual(['accuracy', 'formatScore']);
  expect(found.map(({ weight }) => weight)).toEqual([expect.closeTo(1, 6), expect.closeTo(0.5, 6)]);
  const other = PARTS.map((parts, i) => paid(`${i}`, [3, -1, 2, 0][i], parts));
  expect(fittedComponents(batchOf(other))).toBeNull();
});

it('says the same of trajectories whatever was looked at before', () => {
  const first = fittedComponents(batchOf(sumOf(0.5)));
  fittedComponents(batchOf([...sumOf(2), paid('4', 0, { bonus: 7 }), paid('5', 1, { bonus: 8 })]));
  expect(fittedComponents(batchOf(sumOf(0.5)))).toEqual(first);
});

it('is critical of a part that works against the sum', () => {
  // R = 1, 1, .5, .5: variance .0625; Cov(accuracy, R) = .125, Cov(formatScore / 2, R) = −.0625
  const records = [1, 1, 0, 0].map((accuracy, i) => paid(`${i}`, 0.5 + accuracy / 2, { accuracy, formatScore: 1 - accuracy })); // prettier-ignore
  const step = times(8, records);
  const run = diagnoseRecords(rewardComponentsDiagnostic, [step, step, step], { params: { weights: { accuracy: 1, formatScore: 0.5 } } }); // prettier-ignore
  expect(run.values).toMatchObject({ 'share:accuracy': 2, 'share:formatScore': -1 });
  expect(run.alerts.map(({ rule, level }) => `${level} ${rule}`)).toEqual(['critical opposing-part', 'warn silenced-part', 'warn dominant-part']); // prettier-ignore
});

it('warns of a silenced part and of one that has it all', () => {
  const rulesOf = (weights: Record<string, number>) => {
    const step = times(8, sumOf(0.5));
    return diagnoseRecords(rewardComponentsDiagnostic, [step, step, step], { params: { weights } });
  };
  const silenced = rulesOf({ accuracy: 1, formatScore: 2 });
  // R = 3, 1, 2, 2: variance .5; Cov(accuracy, R) = 0, Cov(2 format, R) = .5
  expect(silenced.values).toMatchObject({ 'share:accuracy': 0, 'share:formatScore': 1 });
  expect(silenced.alerts.map(({ rule }) => rule)).toEqual(['silenced-part', 'dominant-part']);
  expect(rulesOf({ accuracy: 1, formatScore: -0.5 }).alerts).toEqual([]);
});

it('says that the parts do not add up', () => {
  const records = PARTS.map((parts, i) => paid(`${i}`, [3, -1, 2, 0][i], parts));
  expect(diagnoseRecords(rewardComponentsDiagnostic, [records])).toMatchObject({
    sentence: 'the reward is not known to have several parts',
    reasons: { greatestShare: 'the recorded parts do not add up to outcomeReward: say their weights' },
  });
});
