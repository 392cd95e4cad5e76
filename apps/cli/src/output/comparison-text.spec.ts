import { trajectoryBatch } from '#lib/dataset';
import { comparisonOf, summarizeShard, type Comparison } from '#lib/diagnostics';
import { describe, expect, it } from 'vitest';
import {
  agreementText,
  annotatorsText,
  creditText,
  disputedText,
  estimatorsText,
  signalText,
  tagText,
} from './comparison-text.js';

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

it('says so where no estimator said anything, and draws no empty table', () => {
  const silent = { ...compare({ humanLabel: LABELS }), estimators: [], pairs: [], truths: [] };
  expect(estimatorsText(silent)).toBe('there is nothing to compare: no estimator said anything');
  expect([creditText(silent), agreementText(silent), ...annotatorsText(silent)].join('')).toBe('');
});

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

describe('where credit lies', () => {
  it('shows its profile, what one rollout less does to it, and where the update goes', () => {
    const comparison = compare({ humanLabel: LABELS });
    const [byOutcome, byTurn] = comparison.estimators;
    const stability = { turns: 8, leftOut: 'groups', meanMaxMove: 0.5, signUnstableShare: 0.25, relativeInstability: 0.125, reasons: {} } as const; // prettier-ignore
    const gradient = { from: 'logprob', turns: 16, push: -0.25, length: 1, reasons: {} } as const;
    const estimators = [byOutcome, { ...byTurn, stability, gradient }];
    const truths = comparison.truths.map((row) => ({
      ...row,
      gradientCosine: row.estimator === 'byTurn' ? 0.5 : null,
    }));
    const text = lines(creditText({ ...comparison, estimators, truths }));
    expect(text.slice(1, 5)).toEqual([
      'estimator | Gini | turns | last turn | by turn | error | signs turn | push | cosine',
      expect.stringContaining('──'),
      // |credit| 1 and 2: effective turns 9 / 5
      'byTurn * | 0.17 | 1.8 | 67 % | ▅█ | 13 % | 25 % | −0.25 | 0.50',
      'byOutcome | 0.00 | 2.0 | 50 % | ██ | – | – | – | –',
    ]);
    expect(text.join(' ')).toContain('*: compares groups with each other');
    // one that is older has neither, and no legend for what it lacks
    const old = creditText({ ...comparison, estimators: comparison.estimators.map(({ stability: _s, gradient: _g, ...row }) => row) }); // prettier-ignore
    expect(old).not.toMatch(/error:|push:|cosine:/);
  });

  it('shows opposite signs, and no matrix of what nobody has', () => {
    const comparison = compare({ humanLabel: LABELS });
    expect(lines(agreementText(comparison, 'flipShare')).slice(2)).toEqual(['1 byTurn | 0 %', '2 byOutcome | 0 %']);
    expect(agreementText(comparison, 'gradientCosine')).toBe('');
  });

  it('shows what a score becomes without each annotator', () => {
    const score = (share: number | null) => ({ n: 4, withinTrajectoryPairAccuracy: share, auc: share, spearman: null, firstErrorHit: null, intervals: { withinTrajectoryPairAccuracy: { low: 0.25, high: 0.75 }, auc: { low: null, high: null }, spearman: { low: null, high: null }, firstErrorHit: { low: null, high: null } } }); // prettier-ignore
    const without = [0.4, 0.6, null].map((share, i) => ({ annotator: 'abc'[i], ...score(share) }));
    const spread = { withinTrajectoryPairAccuracy: 0.2, auc: 0.2, spearman: null, firstErrorHit: null };
    const annotators = [{ signal: 'humanLabel', annotators: without.map(({ annotator }) => ({ annotator, turns: 4 })), estimators: [{ estimator: 'x', consensus: score(0.5), without, spread }] }]; // prettier-ignore
    const [text] = annotatorsText({ ...compare({}), annotators });
    expect(lines(text).slice(1)).toEqual([
      'estimator | most of 3 annotators | 3 times one less | most | one less',
      expect.stringContaining('──'),
      'x | 50 % (25 to 75) | 40 % to 60 % | 0.50 | 0.40 to 0.60',
    ]);
  });

  it('shows agreement by the values of a tag, and a disputed turn with its text', () => {
    const pairs = (spearman: number | null) => [{ a: 'x', b: 'y', n: 4, pearson: 1, spearman, signAgreement: 1, flipCount: 1 }]; // prettier-ignore
    const text = tagText('taskType', [
      { value: 'clean', trajectories: 2, turns: 4, pairs: pairs(0.5) },
      { value: 'pick', trajectories: 1, turns: 2, pairs: pairs(null) },
    ]);
    expect(lines(text).filter((line) => !line.startsWith('─'))).toEqual([
      'taskType | clean | pick',
      'trajectories | 2 | 1',
      'turns | 4 | 2',
      '',
      'Spearman | clean | pick',
      'x, y | 0.50 | –',
      '',
      'opposite signs | clean | pick',
      'x, y | 25 % | 25 %',
    ]);
    const dispute = { run: 'r', trajectory: 't', turn: 700, a: 'x', b: 'y', strength: 1, values: { x: 1, y: -2 } };
    const recorded = { state: 'a  hall\u001b[31m', action: 'go', signals: {} };
    expect(lines(disputedText({ ...dispute, recorded }))[0]).toBe('t, turn 700: x +1.00, y −2.00');
    expect(disputedText({ ...dispute, recorded: null })).toBe('t, turn 700: x +1.00, y −2.00');
  });
});

it.each([
  [3, 8, '3 of the 8 groups carry a signal'],
  [1, 8, '1 of the 8 groups carries a signal'],
  [0, 1, '0 of the 1 group carries a signal'],
])('says how many groups carry a signal: %d of %d', (groupsWithSignal, groups, text) =>
  expect(signalText({ groups, groupsWithSignal })).toBe(text),
);
