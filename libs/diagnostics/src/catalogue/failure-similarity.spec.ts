import { seededRandom } from '#lib/numeric';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout } from './behaviour.fixture.js';
import { FailureCurriculum } from '../failure-curriculum.js';
import { failureSimilarityDiagnostic } from './failure-similarity.js';

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

const options = { topK: 3, boost: 1, selfBoost: 1, similarityThreshold: 0, maxHistory: 32, maxChars: 0 };

it('compares so many failures and no more, the others raising what these raise on average', () => {
  const failures = Array.from({ length: 12 }, (_, i) => ({
    task: `t${i % 4}`,
    fingerprint: 'abcd'.slice(0, 1 + (i % 4)),
  }));
  const some = new FailureCurriculum(options);
  // failures 2, 6 and 10 are compared: of task t2, 'abc' against 'ab' and 'a', later 'abcd' too
  expect(some.record(failures, 3).map(({ of, task }) => [of, task])).toEqual([['t2', 't1'], ['t2', 't3'], ['t2', 't3']]); // prettier-ignore
  const ratio = (length: number) => (2 * Math.min(3, length)) / (3 + length);
  const raised = ratio(1) + ratio(2) + 2 * (ratio(1) + ratio(2) + ratio(4));
  const usual = raised / (2 + 3 + 3);
  const seenByOthers = 0 + 1 + 3 + 3 * 6; // other tasks before failures 0, 1 and 3, and all three before those after
  const total = [...some.weights.values()].reduce((sum, weight) => sum + weight);
  expect(total).toBeCloseTo(4 + 12 + raised + usual * seenByOthers, 9);
});

it('says of many failures about what comparing all of them says', () => {
  const random = seededRandom('prompts');
  const words = 'put the red blue mug apple into box sink drawer and clean heat it then go to kitchen'.split(' ');
  const prompt = () => Array.from({ length: 12 }, () => words[random.integer(words.length)]).join(' ');
  const prompts = Array.from({ length: 120 }, prompt);
  const failures = prompts.flatMap((fingerprint, t) =>
    Array.from({ length: random.integer(8) }, () => ({ task: `t${t}`, fingerprint })),
  );
  const effective = (most?: number) => {
    const curriculum = new FailureCurriculum({ ...options, boost: 0.35, selfBoost: 0.15, maxChars: 100 });
    curriculum.record(failures, most);
    const weights = prompts.map((_, t) => curriculum.weights.get(`t${t}`) ?? 1);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return total ** 2 / weights.reduce((sum, weight) => sum + weight ** 2, 0) / weights.length;
  };
  expect(Math.abs(effective(8) - effective())).toBeLessThan(0.12);
  expect(effective(failures.length)).toBe(effective());
});

it('knows nothing of another curriculum', () => {
  const of = (count: number) =>
    Array.from({ length: count }, (_, i) => failure(`t${i % 7}`, 'abcdefg'.slice(i % 7) + 'xy'.repeat(i % 3)));
  const weights = (count: number) => {
    const curriculum = new FailureCurriculum(options);
    curriculum.record(of(count), 4);
    return [...curriculum.weights];
  };
  const [few, many] = [weights(9), weights(90)];
  expect([9, 90, 9].map(weights)).toEqual([few, many, few]);
});
