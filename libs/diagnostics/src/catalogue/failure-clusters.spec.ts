import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout } from './behaviour.fixture.js';
import { failureClusters } from '../failures-alike.js';
import { failureClustersDiagnostic, jaccard } from './failure-clusters.js';

const doing = (id: string, group: string, outcome: number, actions: string) =>
  rollout(id, group, outcome, [...actions].map((action) => ({ action }))); // prettier-ignore

it('joins what does the same, and takes the sequence itself where it is short', () => {
  const records = [doing('a', 'g', 0, 'xyz'), doing('b', 'h', 0, 'xyz'), doing('c', 'g', 1, 'xyz'), doing('d', 'g', 0, 'q'), doing('e', 'g', 0, 'q')]; // prettier-ignore
  const found = failureClusters(trajectoryBatch(records), { similarity: 0.6, gram: 2 }); // prettier-ignore
  expect(found.labels).toEqual([0, 0, null, 1, 1]);
  expect(found.clusters.map(({ size, tasks }) => [size, tasks])).toEqual([[2, 2], [2, 1]]); // prettier-ignore
  expect(found).toMatchObject({ largestShare: 0.5, effectiveClusters: 2 });
});

it('measures likeness by what is shared of all', () => {
  expect(jaccard(new Set([1, 2, 3]), [2, 3, 4])).toBe(0.5);
  expect(jaccard(new Set(), [])).toBe(1);
});

/** A step of 8 failures, `same` of which do the same on tasks of their own. */
const step = (same: number, at: number) =>
  Array.from({ length: 8 }, (_, i) => doing(`${at}-${i}`, `g${i}`, 0, i < same ? 'loop' : `${at}${i}ab`));

it('says that a way to fail spreads over four windows, and not that it stays', () => {
  const run = (shares: readonly number[]) =>
    diagnoseRecords(failureClustersDiagnostic, shares.map(step), { thresholds: { window: 1 } });
  const spreading = run([1, 2, 3, 4]);
  expect(spreading.alerts).toMatchObject([{ rule: 'spreading', level: 'info', openedAt: 3 }]);
  expect(spreading.sentence).toBe('the commonest way to fail makes up 50 % of the failures of the last training step, over 4 tasks'); // prettier-ignore
  expect(run([4, 4, 4, 4]).alerts).toEqual([]);
  expect(run([1, 2, 3]).alerts).toEqual([]);
});

it('knows a way again in another training step, and whose fault it is', () => {
  const run = diagnoseRecords(failureClustersDiagnostic, [step(5, 0), step(5, 1)]);
  expect(run.detail).toMatchObject({
    clusters: expect.arrayContaining([expect.objectContaining({ size: 10, share: 10 / 16, fault: 'agent' })]),
  });
  expect(run.evidence[0]).toEqual({ trainingStep: 0, trajectory: '0-0', note: '10 failures over 5 tasks do the same' });
});

it('knows a way by its actions, whatever numbers they have in a training step', () => {
  const failing = (at: number, before: string, actions: string) => [
    doing(`won-${at}`, 'g', 1, before),
    ...[1, 2, 3].map((i) => doing(`${at}-${i}`, 'g', 0, actions)),
  ];
  const ways = (...steps: ReturnType<typeof failing>[]) =>
    (diagnoseRecords(failureClustersDiagnostic, steps).detail as { clusters: { size: number }[] }).clusters.map(
      ({ size }) => size,
    );
  expect(ways(failing(0, '', 'loop'), failing(1, 'pol', 'loop'))).toEqual([6]);
  expect(ways(failing(0, '', 'loop'), failing(1, '', 'mood'))).toEqual([3, 3]);
  expect(ways(failing(0, '', 'ab'), failing(1, '', 'ba'))).toEqual([3, 3]);
});

it('joins the first of two leaders that are alike to it', () => {
  const records = [doing('a', 'g', 0, 'xyzab'), doing('b', 'g', 0, 'xyzcd'), doing('c', 'g', 0, 'xyz')];
  expect(failureClusters(trajectoryBatch(records), { similarity: 0.5, gram: 2 }).labels).toEqual([0, 1, 0]);
});

it('knows nothing of the batch before', () => {
  const small = trajectoryBatch(['xy', 'xy', '', 'q'].map((actions, i) => doing(`${i}`, 'g', 0, actions)));
  const large = trajectoryBatch(Array.from({ length: 40 }, (_, i) => doing(`${i}`, 'g', 0, `xy${i}${'ab'.repeat(i)}`)));
  const options = { similarity: 0.6, gram: 2 };
  const [ofSmall, ofLarge] = [small, large].map((batch) => failureClusters(batch, options));
  expect(ofSmall.labels).toEqual([0, 0, 1, 2]);
  expect([small, large, small].map((batch) => failureClusters({ ...batch }, options))).toEqual([ofSmall, ofLarge, ofSmall]); // prettier-ignore
});
