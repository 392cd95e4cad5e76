import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout } from './behaviour.fixture.js';
import { FailureCurriculum, failureSimilarityDiagnostic } from './failure-similarity.js';

const OPTIONS = { topK: 1, boost: 0.5, selfBoost: 0.1, similarityThreshold: 0, maxHistory: 2, maxChars: 0 };
const failure = (task: string, fingerprint: string) => ({ task, fingerprint });

it('raises the task that failed, and the one like it by their similarity', () => {
  const curriculum = new FailureCurriculum(OPTIONS);
  curriculum.record([failure('a', 'abcd'), failure('b', 'abxy')]);
  // the ratio of abxy and abcd is 2 · 2 / 8
  expect([...curriculum.weights]).toEqual([
    ['a', 1.1 + 0.5 * 0.5],
    ['b', 1.1],
  ]);
});

it('forgets what is older than its history, and leaves the task itself out', () => {
  const curriculum = new FailureCurriculum(OPTIONS);
  curriculum.record([failure('a', 'same'), failure('b', 'b1'), failure('b', 'b2')]);
  expect(curriculum.alike(failure('c', 'same'))).toEqual([]);
  expect(curriculum.alike(failure('b', 'same'))).toEqual([]);
});

const prompted = (group: string, outcome: number, state: string) =>
  rollout(`${group}-${outcome}`, group, outcome, [{ state }]);

it('warns when few tasks would be drawn in effect, and shows the pair that is alike', () => {
  const tasks = (failing: number) =>
    Array.from({ length: 10 }, (_, i) =>
      prompted(`g${i}`, i < failing ? 0 : 1, `You are an agent. Put ${'abcdefghij'[i]} into the box`),
    );
  const run = (params: Record<string, unknown>) => {
    const step = tasks(2);
    return diagnoseRecords(failureSimilarityDiagnostic, [step, step, step], { params });
  };
  const starving = run({ selfBoost: 200, boost: 0 });
  expect(starving.alerts.map(({ rule }) => rule)).toEqual([]);
  expect(starving.values['effectiveTaskShare']).toBeGreaterThan(0.2);
  const one = [tasks(1), tasks(1), tasks(1)];
  const alone = diagnoseRecords(failureSimilarityDiagnostic, one, { params: { selfBoost: 200 } });
  expect(alone.alerts.map(({ rule }) => rule)).toEqual(['starves-tasks']);
  const usual = run({});
  expect(usual.alerts).toEqual([]);
  // without what both begin with: `a into the box` against `b into the box`, 13 of 14 characters
  expect(usual.evidence[0]).toMatchObject({ group: 'g1', note: 'fails like g0, whose prompt is 93 % the same' });
  expect(usual.sentence).toMatch(/^20 % of the tasks fail; sampling after failures would draw from 9\d % of them/);
});

it('compares so many failures and no more, each for as many as it stands for', () => {
  const failures = Array.from({ length: 12 }, (_, i) => ({
    task: `t${i % 4}`,
    fingerprint: 'abcd'.slice(0, 1 + (i % 4)),
  }));
  const options = { topK: 3, boost: 1, selfBoost: 1, similarityThreshold: 0, maxHistory: 32, maxChars: 0 };
  const [all, some] = [new FailureCurriculum(options), new FailureCurriculum(options)];
  expect(all.record(failures)).toHaveLength(11); // the first has nothing to be compared with
  expect(all.record([])).toEqual([]);
  const compared = some.record(failures, 3);
  expect(compared.map(({ of }) => of)).toEqual(['t0', 't0']); // failures 0, 4 and 8
  const total = (curriculum: FailureCurriculum) =>
    [...curriculum.weights.values()].reduce((sum, weight) => sum + weight);
  // four tasks of weight 1, twelve failures of their own, and four times what was compared
  const boosted = ['b', 'c', 'd'].map((_, i) => (2 * 1) / (1 + (i + 2))); // ratio of 'a' to 'ab', 'abc', 'abcd'
  expect(total(some)).toBeCloseTo(4 + 12 + 4 * 2 * boosted.reduce((sum, one) => sum + one), 9);
});
