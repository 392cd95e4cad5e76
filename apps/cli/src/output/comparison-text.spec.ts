import { trajectoryBatch } from '#lib/dataset';
import { comparisonOf, summarizeShard, type Comparison } from '#lib/diagnostics';
import { describe, expect, it } from 'vitest';
import { estimatorsText } from './comparison-text.js';

/** Four groups of two rollouts of two turns each; in the last one outcomes are equal, and byTurn contradicts a label. */
const OUTCOMES = [1, 0, 1, 0, 1, 0, 1, 1];
const LABELS = [-1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, 1, -1, 1, 1];

function compare(truths: Readonly<Record<string, readonly number[]>>): Comparison {
  const turns = (win: readonly number[], loss: readonly number[]) =>
    Float64Array.from(OUTCOMES.flatMap((outcome) => (outcome === 1 ? win : loss)));
  return comparisonOf(
    summarizeShard({
      run: 'r',
      trajectories: trajectoryBatch(
        OUTCOMES.map((outcomeReward, i) => ({
          id: `t${i}`,
          group: `g${i >> 1}`,
          trainingStep: 0,
          outcomeReward,
          turns: [{}, {}],
        })),
      ),
      credits: new Map([
        ['byOutcome', turns([1, 1], [-1, -1])],
        ['byTurn', turns([1, 2], [-1, -2])],
      ]),
      truths: new Map(Object.entries(truths).map(([name, values]) => [name, Float64Array.from(values)])),
      sampleRate: 1,
      topK: 1,
    }),
  );
}

const lines = (text: string) => text.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' | '));

describe('the table of estimators', () => {
  it('shows what agrees with labels: the pairs of a trajectory first, each number with its interval', () => {
    const text = lines(estimatorsText(compare({ humanLabel: LABELS })));
    expect(text.slice(0, 4)).toEqual([
      'estimator | turns with credit | within trajectories | mean | std | groups',
      expect.stringContaining('──'),
      'byTurn | 100 % | 11 % | 0.3750 | 1.536 | 4',
      'byOutcome | 100 % | 0 % | 0.2500 | 0.9682 | 4',
    ]);
    const at = text.findIndex((line) => line.includes('agreement with humanLabel, 90 % intervals'));
    expect(text[at + 1]).toBe('estimator | pairs in order | AUC | in mixed groups | Spearman | found | by chance');
    expect(text.slice(at + 3)).toEqual([
      'byTurn | 86 % (40 to 100) | 0.70 (0.44 to 0.75) | 0.75 (0.75 to 0.75) | 0.35 (−0.11 to 0.45) | 86 % (40 to 100) | 50 %',
      'byOutcome | 50 % (50 to 50) | 0.55 (0.50 to 0.57) | 0.50 (0.50 to 0.50) | 0.10 (0.00 to 0.15) | 43 % (20 to 50) | 50 %',
    ]);
  });

  it('has no interval where there is none, and none of a comparison that is older than a number', () => {
    const written = JSON.stringify(compare({ humanLabel: LABELS }), (key, value: unknown) =>
      key === 'aucMixedGroups' ? undefined : value,
    );
    const text = lines(estimatorsText(JSON.parse(written) as Comparison));
    expect(text.at(-1)).toContain(') | – | ');
  });

  it('shows any other truth as it always did', () => {
    const text = lines(estimatorsText(compare({ exactAdvantage: LABELS.map((label) => label / 2) })));
    expect(text[1]).toBe('estimator | credit | trajectories | Spearman | 90 % interval | AUC | pairs in order');
  });
});
