import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout, times } from './behaviour.fixture.js';
import { prefixSuccess, prefixSuccessDiagnostic, successBefore } from './prefix-success.js';

const OPTIONS = { lost: 0.1, won: 0.9 };
const batchOf = (records: readonly ReturnType<typeof rollout>[]) => trajectoryBatch(records);
const plain = (id: string, outcome: number, length: number) =>
  rollout(id, 'g', outcome, Array.from({ length }, () => ({}))); // prettier-ignore

it('finds where a failure was lost and a success was won', () => {
  const batch = batchOf([plain('a', 0, 4), plain('b', 1, 3)]);
  const [failure, success] = prefixSuccess(batch, Float64Array.of(0.5, 0.8, 0.1, 0.05, 0.5, 0.95, 0.9), OPTIONS).perTrajectory; // prettier-ignore
  expect(failure).toMatchObject({ pointOfNoReturn: 2, pointOfSecuredSuccess: null, worstTurn: 1, bestTurn: 0, rightToWrong: 1 }); // prettier-ignore
  expect(failure!.worstDrop).toBeCloseTo(-0.7, 12);
  expect(success).toMatchObject({
    pointOfNoReturn: null,
    pointOfSecuredSuccess: 1,
    saturatedTurns: 1,
    rightToWrong: 0,
  });
});

it('takes an estimate for the state after its turn, and the others of the group before the first', () => {
  const said = [0.3, 0.6].map((successEstimate) => ({ signals: { successEstimate } }));
  const batch = batchOf([rollout('a', 'g', 1, said), rollout('b', 'g', 0, said), rollout('c', 'g', 0, said)]);
  expect(successBefore(batch)).toEqual({ before: Float64Array.of(0, 0.3, 0.5, 0.3, 0.5, 0.3), source: 'logged' });
});

it('anchors estimates at states that three others saw', () => {
  const seen = [{ state: 'p' }, { state: 'q' }];
  const batch = batchOf([1, 1, 0, 0].map((outcome, i) => rollout(`${i}`, 'g', outcome, i < 3 ? seen : [...seen, { state: 'r' }]))); // prettier-ignore
  const { before, source } = successBefore(batch);
  expect(source).toBe('anchored');
  expect([...before].map((value) => Math.round(value * 3))).toEqual([1, 1, 1, 1, 2, 2, 2, 2, NaN]);
});

const decided = (id: string, outcome: number, ...estimates: readonly number[]) =>
  rollout(id, 'g', outcome, estimates.map((successEstimate) => ({ signals: { successEstimate } }))); // prettier-ignore

it('notes failures that are decided early, warns of those that were right once', () => {
  const run = (...failure: readonly number[]) => {
    const group = [decided('a', 1, 1, 1, 1, 1, 1, 1, 1, 1), decided('b', 0, ...failure)];
    const step = times(16, group);
    return diagnoseRecords(prefixSuccessDiagnostic, [step, step, step]);
  };
  const early = run(0, 0, 0, 0, 0, 0, 0, 0);
  // V: the other of the group (1), then 0 from turn 1 of 8 on
  expect(early.values['medianNoReturn']).toBe(null);
  expect(early.values['calibrationError']).toBeCloseTo(2 / 16, 12);
  const undone = run(0.7, 0.7, 0, 0, 0, 0, 0, 0);
  expect(undone.alerts.map(({ rule }) => rule)).toContain('undone');
});

it('shows the three steepest falls, of equal ones the first', () => {
  const group = [0.3, 0.9, 0.6, 0.9].map((estimate, i) => decided(`${i}`, 0, 0.2, estimate, 0, 0));
  const { evidence } = diagnoseRecords(prefixSuccessDiagnostic, [group]);
  expect(evidence.map(({ trajectory, turn }) => [trajectory, turn])).toEqual([['1', 2], ['3', 2], ['2', 2]]); // prettier-ignore
});

it('names the point where the estimates can be trusted', () => {
  const long = Array.from({ length: 30 }, () => 0);
  const group = [decided('a', 1, ...long.map(() => 1)), decided('b', 0, ...long)];
  const step = times(16, group);
  const run = diagnoseRecords(prefixSuccessDiagnostic, [step, step, step]);
  expect(run.values['medianNoReturn']).toBeCloseTo(1 / 30, 12);
  expect(run.alerts.map(({ rule }) => rule)).toContain('decided-early');
  expect(run.sentence).toMatch(
    /^half of the failures that were open are lost after 3 % of their turns, by the logged estimates/,
  );
});

it('leaves failures out that were lost before their first turn', () => {
  const hopeless = [decided('a', 0, 0, 0), decided('b', 0, 0, 0)];
  const run = diagnoseRecords(prefixSuccessDiagnostic, [hopeless]);
  expect(run.values).toMatchObject({ medianNoReturn: null, lostFromStartShare: 1, calibrationError: 0 });
  expect(run.sentence).toBe('no place of no return can be named by the logged estimates; 100 % had no chance from the start; 0 % of the failures were on the right way once'); // prettier-ignore
});
