import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { chunkF2, entityCoverage, longtraceRubric, normalizedText } from './longtrace-rubric.js';

const ENTITIES = ['one', 'two', 'three', 'four', 'five'];
const said = (outcome: number, text: string, more: object = { rubricEntities: ENTITIES }, group = 'g') => ({
  ...rollout(group, outcome, [{ signals: { visibleText: text } }]),
  signals: { ...more },
});
const four = [said(1, 'one'), said(1, 'One, two.'), said(0, 'one two three'), said(1, 'nothing')];
const rewardOf = (records: ReturnType<typeof said>[], params: object) =>
  estimateOf(longtraceRubric, records, params).columns.trajectoryReward;

describe('longtrace-rubric', () => {
  it('gives the numbers of its page', () => {
    const { columns, trajectoryAdvantage } = estimateOf(longtraceRubric, four);
    expect(columns.rubricReward).toEqual([0.2, 0.4, 0.6, 0]);
    expectNumbers(columns.trajectoryReward, [0.8, 0.9, 0, 0.7], 1e-12);
    expectNumbers(trajectoryAdvantage, [0.4899, 0.7348, -1.4697, 0.2449], 1e-4);
  });

  it('mixes coverage into the outcomes that its variant names', () => {
    expectNumbers(rewardOf(four, { variant: 'onlyNegative' }), [1, 1, 0.3, 1], 1e-12);
    expectNumbers(rewardOf(four, { variant: 'all' }), [0.8, 0.9, 0.3, 0.7], 1e-12);
    expectNumbers(rewardOf(four, { normalizeByGroupMax: false }), [0.76, 0.82, 0, 0.7], 1e-12);
  });

  it('looks for entities inside words, letters and digits of any case', () => {
    expect(normalizedText('École: polonium-210,  居里')).toBe('cole polonium 210 居 里');
    expect(entityCoverage(['art', 'POLONIUM 210', 'radium'], 'The party; polonium-210')).toBeCloseTo(2 / 3, 12);
    expect(entityCoverage(['é'], 'anything')).toBe(1);
    expect(entityCoverage([], 'anything')).toBe(0);
  });

  it('scores the chunks of the last list, recall counting more', () => {
    const text =
      '<useful_chunks><CHUNK_1></useful_chunks> then <useful_chunks><chunk 2>,<CHUNK3></useful_chunks> <CHUNK_4>';
    // one of two named, one of two wanted: p = r = 1/2
    expect(chunkF2([2, 4], text)).toBeCloseTo(0.5, 12);
    // p = 1/2, r = 1/4: 5/8 / (2 + 1/4)
    expect(chunkF2([2, 5, 6, 7], text)).toBeCloseTo(0.625 / 2.25, 12);
    expect(chunkF2([1], text)).toBe(0);
    expect(chunkF2([], '')).toBe(0);
  });

  it('adds chunks to the outcome in its other form', () => {
    const gold = { goldChunks: [7] };
    const given = [said(1, '<useful_chunks><CHUNK_7></useful_chunks>', gold), said(0, '<useful_chunks><CHUNK_7></useful_chunks>', gold), said(1, '', gold)]; // prettier-ignore
    expectNumbers(rewardOf(given, { variant: 'longrlvr', rubricRatio: 0.1 }), [2, 0.1, 1], 1e-12);
  });

  it('compares over the whole batch where it is told to', () => {
    const two = [said(1, 'one two three four five'), said(0, ''), said(0, '', { rubricEntities: ENTITIES }, 'h')];
    const batch = creditOf(longtraceRubric, two, { statsScope: 'batch', epsilon: 0 }).values;
    expectNumbers(batch, [2 / 3 / Math.sqrt(1 / 3), -1 / 3 / Math.sqrt(1 / 3), -1 / 3 / Math.sqrt(1 / 3)], 1e-12);
  });

  it('gives 0 to a group that agrees, and to one alone, saying so', () => {
    expect([...creditOf(longtraceRubric, [said(1, 'one'), said(1, 'two')]).values]).toEqual([0, 0]);
    const alone = estimateOf(longtraceRubric, [said(1, 'one')]);
    expect(alone.trajectoryAdvantage).toEqual([0]);
    expect(alone.warnings).toHaveLength(1);
    expectNumbers(creditOf(longtraceRubric, [said(1, 'one')], { singleton: 'raw', epsilon: 0 }).values, [1], 1e-12);
  });
});
