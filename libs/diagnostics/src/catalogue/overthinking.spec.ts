import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout, times } from './behaviour.fixture.js';
import { overthinking, overthinkingDiagnostic } from './overthinking.js';

const turns = (hit: number, ...tokens: readonly number[]) =>
  tokens.map((tokenCount, t) => ({ signals: { tokenCount, containsAnswer: t >= hit } }));
const A = rollout('A', 'g', 1, turns(1, 10, 20, 30));
const C = rollout('C', 'g', 1, turns(0, 10, 40));
const B = rollout('B', 'g', 0, turns(9, 10, 40));

it('gives the example of the method: hits in the second of three turns and in the first of two', () => {
  // savable: 30 + 40 of the 160 tokens that A, C and one failure of 50 spend
  const found = overthinking(trajectoryBatch([A, C, B]));
  expect(found.firstCorrectRatio).toEqual([expect.closeTo(2 / 3, 12), 0.5, 0]);
  expect(found.redundantTokenShare).toEqual([0.5, 0.8, null]);
  expect(found.savableTokenShare).toBeCloseTo(70 / 160, 12);
  expect(found.firstCorrectRatioMean).toBeCloseTo(7 / 12, 12);
});

it('warns where most tokens follow the answer, not where they lead to it', () => {
  const run = (record: typeof A) => {
    const step = times(32, [record]);
    return diagnoseRecords(overthinkingDiagnostic, [step, step, step]);
  };
  const wordy = run(C);
  expect(wordy.alerts).toMatchObject([
    { rule: 'overthinking', openedAt: 2, saw: { redundantTokenShare: expect.closeTo(0.8, 12) } },
  ]);
  expect(wordy.sentence).toBe("the answer first stands after 50 % of a success's turns; 80 % of its tokens come after it, 80 % of all tokens"); // prettier-ignore
  expect(run(rollout('D', 'g', 1, turns(1, 40, 10))).alerts).toEqual([]);
});

it('says what it lacks: an answer, or tokens', () => {
  expect(diagnoseRecords(overthinkingDiagnostic, [[B]]).sentence).toMatch(/^cannot be said: no success says/);
  const untold = rollout('U', 'g', 1, [{ signals: { containsAnswer: true } }, {}]);
  expect(diagnoseRecords(overthinkingDiagnostic, [[untold]])).toMatchObject({
    values: { firstCorrectRatio: 0.5, redundantTokenShare: null },
    reasons: { redundantTokenShare: 'needs turn.tokenCount or tokens' },
  });
});
