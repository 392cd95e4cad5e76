import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { deepRubric, rubricScore } from './deep-rubric.js';

type Answer = {
  hasAnswer: boolean;
  hasCitation: boolean;
  validQueries: number;
  validQueriesBeforeAnswer: number;
  cleanThinks: number;
  answerTokens: number;
  citationScore: number;
  criteria: { weight?: number; score: number }[];
};
const NOTHING: Answer = { hasAnswer: false, hasCitation: false, validQueries: 0, validQueriesBeforeAnswer: 0, cleanThinks: 0, answerTokens: 0, citationScore: 0, criteria: [] }; // prettier-ignore
const answer = (said: Partial<Answer>) => ({ ...rollout('g', 0), signals: { ...NOTHING, hasAnswer: true, ...said } });
const scale = { scoreScale: 4, defaultCriterionWeight: 1e-4 };
const full = answer({
  hasCitation: true,
  validQueries: 4,
  validQueriesBeforeAnswer: 4,
  cleanThinks: 3,
  answerTokens: 1500,
  citationScore: 0.6,
  criteria: [
    { weight: 3, score: 4 },
    { weight: 2, score: 2 },
    { weight: 1, score: 0 },
  ],
});

describe('deep-rubric', () => {
  it('gives the numbers of its page', () => {
    const weaker = answer({
      validQueries: 1,
      validQueriesBeforeAnswer: 1,
      cleanThinks: 1,
      answerTokens: 600,
      criteria: [
        { weight: 3, score: 2 },
        { weight: 2, score: 2 },
        { weight: 1, score: 4 },
      ],
    });
    const none = answer({ hasAnswer: false, hasCitation: true, validQueries: 1, cleanThinks: 2, citationScore: 1, criteria: [{ score: 4 }] }); // prettier-ignore
    const { columns } = estimateOf(deepRubric, [full, weaker, none]);
    expectNumbers(columns.rubricScore, [2 / 3, 3.5 / 6, 0], 1e-12);
    expectNumbers(columns.formatScore, [1, 0.6, 0.5], 1e-12);
    // 0.333 + 0.15 + 0.0667 + 0.12 + 0.025; 0.2917 + 0.09 + 0.0167 + 0 + 0.01; 0.15 · 0.5
    expectNumbers(columns.trajectoryReward, [0.695, 0.408333, 0.075], 1e-6);
  });

  it('weighs criteria, a failed judgement counting as nothing met', () => {
    expect(rubricScore([{ weight: 1, score: 4 }, { weight: 1, score: null }], scale)).toBe(0.5); // prettier-ignore
    expect(rubricScore([{ weight: 1, score: 9 }, { weight: 1, score: -3 }], scale)).toBe(0.5); // prettier-ignore
    expect(rubricScore([{ weight: 3, score: 4 }, { weight: -1, score: 4 }], scale)).toBe(0.5); // prettier-ignore
    expect(rubricScore([{ weight: 1, score: 0 }, { score: 4 }], scale)).toBeCloseTo(1e-4, 7); // prettier-ignore
    expect(rubricScore([], scale)).toBe(0);
    expect(rubricScore([{ weight: 0, score: 4 }], scale)).toBe(0);
  });

  it('stays within 0 and 1 with positive weights', () => {
    const criterion = fc.record({ weight: fc.integer({ min: 1, max: 9 }), score: fc.integer({ min: -9, max: 9 }) });
    fc.assert(
      fc.property(fc.array(criterion), (criteria) => {
        const score = rubricScore(criteria, scale);
        expect(score >= 0 && score <= 1).toBe(true);
      }),
    );
  });

  it('pays no more searches and tokens than its bounds', () => {
    const { columns } = estimateOf(deepRubric, [answer({ validQueriesBeforeAnswer: 60, answerTokens: 9000 })]);
    expect([columns.searchScore, columns.lengthScore]).toEqual([[1], [1]]);
  });

  it('gives 0 to a group that agrees, and a group of one its reward or 0', () => {
    expect([...creditOf(deepRubric, [full, { ...full, id: 'other' }]).values]).toEqual([0, 0]);
    expectNumbers(creditOf(deepRubric, [full], { epsilon: 0 }).values, [0.695], 1e-12);
    expect([...creditOf(deepRubric, [full], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
