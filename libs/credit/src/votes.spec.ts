import { joinAnnotations, trajectoryBatch, type Annotation } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { rollout } from './estimator.fixture.js';
import { capo } from './estimators/capo.js';
import { runEstimator } from './run-estimator.js';
import { attemptsOf, firstOfMost, shareOfYes } from './votes.js';

const batch = (...wrong: (boolean | (boolean | null)[])[]) =>
  trajectoryBatch([
    { ...rollout('g', 1, wrong.map((each) => ({ signals: { wrong: each, tokenCount: 1 } }))), id: 'a', success: true }, // prettier-ignore
  ]);
const vote = (turn: number, attempt: number, wrong: boolean, annotator = 'judge'): Annotation => ({
  position: 10 * attempt + turn,
  trajectory: 'a',
  turn,
  annotator,
  attempt,
  signals: { wrong },
});

describe('votes', () => {
  it('are those of all annotators and attempts, and else what the signal says', () => {
    const votes = [vote(0, 0, true), vote(0, 1, false), vote(0, 2, true), vote(0, 0, true, 'person')];
    const joined = joinAnnotations(batch(false, [true, null]), votes);
    expect(attemptsOf(joined, 'turn.wrong', [[0], [1, null]])).toEqual([
      [1, 1, 0, 1],
      [1, null],
    ]);
  });

  it('are counted by an estimator, although the latest one stands under the plain name', () => {
    const joined = joinAnnotations(batch(false, false), [vote(0, 0, true), vote(0, 1, true), vote(0, 2, false)]);
    const outcome = runEstimator(capo, joined, { vote: 'majority' });
    const reward = outcome.kind === 'credit' && outcome.credit.explain!['turnReward'].values;
    expect(reward).toEqual(Float64Array.of(1, 2));
  });

  it('have a share of yes without the failed ones', () => {
    expect(shareOfYes([1, null, 0, 1])).toBeCloseTo(2 / 3, 12);
    expect(shareOfYes([null])).toBe(0);
  });

  it('are won by the first of several with the most', () => {
    expect(firstOfMost(new Map([['a', 1], ['b', 2], ['c', 2]]))).toBe('b'); // prettier-ignore
    expect(firstOfMost(new Map())).toBeNull();
  });
});
