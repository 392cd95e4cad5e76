import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout, times } from './behaviour.fixture.js';
import { processConflicts, processOutcomeDiagnostic } from './process-outcome.js';

const scored = (id: string, outcome: number, ...scores: readonly number[]) =>
  rollout(id, 'g', outcome, scores.map((processReward) => ({ signals: { processReward } }))); // prettier-ignore

it('counts what failures are paid, and where score and outcome say the opposite', () => {
  const batch = trajectoryBatch([
    scored('a', 1, 0.4, 0.2),
    scored('b', 1, 0.9),
    scored('c', 0, 0.6),
    scored('d', 0, -0.5),
  ]);
  // P: .3, .9 against .6, −.5; paid .6 of 1.8. Median of the failures .05: no success below; of the successes .6: none above
  expect(processConflicts(batch)).toMatchObject({ leakage: expect.closeTo(1 / 3, 12), conflictShare: 0 });
  const inverted = trajectoryBatch([scored('a', 1, 0.1), scored('b', 0, 0.9)]);
  expect(processConflicts(inverted)).toMatchObject({ leakage: 0.9, conflictShare: 1 });
});

it('compares with the median of the other outcome, in a group of any size', () => {
  const median = (some: number[]) => (some[(some.length - 1) >> 1] + some[some.length >> 1]) / 2;
  for (const n of [2, 5, 8, 9, 40, 100]) {
    const ascending = Array.from({ length: n }, (_, score) => score);
    const wrong = ascending.filter((score) => score % 3 === 0);
    const right = ascending.filter((score) => score % 3 > 0);
    const high = wrong.filter((score) => score > median(right));
    const low = right.filter((score) => score < median(wrong));
    const inAnyOrder = ascending.map((i) => (7 * i) % n);
    const batch = trajectoryBatch(inAnyOrder.map((score) => scored(`${score}`, Number(score % 3 > 0), score)));
    expect(processConflicts(batch).conflictShare).toBe((high.length + low.length) / n);
  }
});

it('warns of a process reward that failures get, not of one that follows success', () => {
  const run = (success: number, failure: number) => {
    const step = times(16, [scored('a', 1, success), scored('b', 0, failure)]);
    return diagnoseRecords(processOutcomeDiagnostic, [step, step, step]);
  };
  const leaking = run(0.2, 0.8);
  expect(leaking.alerts.map(({ rule }) => rule)).toEqual(['leaks-to-failures']);
  expect(leaking.sentence).toBe('inside a group a success scores higher than a failure in 0 % of the pairs, and it is 0.6 lower on average; failures get 80 % of the process reward'); // prettier-ignore
  const honest = run(0.8, 0.2);
  expect(honest.values).toMatchObject({ groupAuroc: 1, auroc: 1, trustGamma: 1, drift: null });
  expect(honest.alerts).toEqual([]);
});

it('is critical when the score rises for thirty steps and success does not', () => {
  const steps = (solved: (s: number) => number) =>
    Array.from({ length: 30 }, (_, s) =>
      Array.from({ length: 8 }, (_group, g) => ({ ...scored(`${g}`, g < solved(s) ? 1 : 0, s / 30), group: `g${g}` })),
    );
  const rules = (solved: (s: number) => number) =>
    diagnoseRecords(processOutcomeDiagnostic, steps(solved)).alerts.map(({ rule }) => rule);
  expect(rules(() => 1)).toContain('drift');
  expect(rules((s) => s / 4)).not.toContain('drift');
});
