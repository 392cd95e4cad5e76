import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { stepGrpo } from './step-grpo.js';

const search = (querySimilarity: number, retriever: string, formatOk: boolean | number = true, state = 'q') => ({
  state,
  signals: { actionType: 'search', formatOk, querySimilarity, retriever, groundTruthRetriever: 'text retriever' },
});
const answer = (answerRecall: number, groundTruthAnswers: string) => ({
  state: 'a',
  signals: { actionType: 'answer', formatOk: 1, answerRecall, groundTruthAnswers },
});
const rewardOf = (turn: ReturnType<typeof search> | ReturnType<typeof answer>) =>
  (estimateOf(stepGrpo, [rollout('g', 0, [turn])]).columns.turnReward as number[][])[0][0];

describe('step-grpo', () => {
  it('compares the responses of a step', () => {
    const given = [search(0.8, 'text retriever'), search(0.6, 'table retriever'), search(0.6, 'web')];
    const { turnAdvantage, columns } = estimateOf(stepGrpo, given.map((turn) => rollout('g', 0, [turn]))); // prettier-ignore
    expectNumbers(columns.turnReward, [0.9, 0.3, 0], 1e-12);
    expectNumbers(turnAdvantage, [1.0911, -0.2182, -0.8729], 1e-4);
  });

  it('pays a search for one known retriever that is the right one', () => {
    expect(rewardOf(search(1, 'Text Retriever'))).toBe(1);
    expect(rewardOf(search(1, 'text retriever, table retriever'))).toBe(0.5);
    expect(rewardOf(search(1, 'none'))).toBe(0.5);
    expect(rewardOf(search(1, 'none, text retriever'))).toBe(0);
    expect(rewardOf(search(1, 'text retriever', 0))).toBe(0);
    expect(rewardOf(search(-1, 'none'))).toBe(-0.5);
  });

  it('pays a long answer by its recall and a short one only whole', () => {
    expect(rewardOf(answer(0.5, 'one two three four five six'))).toBe(0.5);
    expect(rewardOf(answer(0.5, 'one two three four five'))).toBe(0);
    expect(rewardOf(answer(1, 'one'))).toBe(1);
    expect(rewardOf(answer(0.5, 'one two three four five six|one'))).toBe(0);
  });

  it('asks of a turn what its type needs, and of no other', () => {
    const both = [rollout('g', 0, [search(1, 'none'), answer(1, 'one')])];
    expectNumbers(creditOf(stepGrpo, both, { epsilon: 0 }).values, [0.5, 1], 1e-12);
    const bare = { state: 'q', signals: { actionType: 'search', formatOk: 1, retriever: 'none' } };
    const outcome = runEstimator(
      stepGrpo,
      trajectoryBatch([rollout('g', 0, [search(1, 'none'), bare, answer(1, 'x')])]),
    );
    expect(outcome.kind === 'missing' && outcome.missing).toEqual([
      { path: 'turn.querySimilarity', rows: 1, of: 3 },
      { path: 'turn.groundTruthRetriever', rows: 1, of: 3 },
    ]);
  });

  it('gives 0 to a step that agrees, and compares no two states', () => {
    const agree = [search(0.3, 'none'), search(0.3, 'none')].map((turn) => rollout('g', 0, [turn]));
    expect([...creditOf(stepGrpo, agree).values]).toEqual([0, 0]);
    const apart = [search(1, 'none', 1, 'p'), search(0, 'none', 1, 'q')].map((turn) => rollout('g', 0, [turn]));
    expect([...creditOf(stepGrpo, apart, { epsilon: 0 }).values]).toEqual([0.5, 0]);
  });
});
