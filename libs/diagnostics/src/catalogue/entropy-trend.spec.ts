import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { measureStep, readRun } from '../run-diagnostic.js';
import { entropyTrend, entropyTrendDiagnostic } from './entropy-trend.js';

const OPTIONS = { baselineSteps: 2, trendSteps: 4, targetEntropy: 0.3, riseFactor: 2, spentShare: 0.9 };
const pointsOf = (entropies: readonly number[]) =>
  entropies.map((entropy, trainingStep) => ({ trainingStep, entropy }));

describe('entropyTrend', () => {
  it('gives the example of the method: 1, .9, .6, .4, .25, .2', () => {
    const trend = entropyTrend(pointsOf([1, 0.9, 0.6, 0.4, 0.25, 0.2]), OPTIONS);
    expect(trend.baseline).toBeCloseTo(0.95, 12);
    expect(trend.consumedNow).toBeCloseTo(0.7895, 4);
    expect(trend.halfLifeSteps).toBeCloseTo(1.84, 2);
    expect(trend.firstStepBelowTarget).toBe(4);
  });

  it('has no half-life where entropy does not fall, and no slope from one point', () => {
    expect(entropyTrend(pointsOf([0.5, 0.5, 0.6]), OPTIONS).halfLifeSteps).toBeNull();
    expect(entropyTrend(pointsOf([0.5]), OPTIONS)).toMatchObject({ logSlope: null, halfLifeSteps: null });
  });

  it('calls more than twice the median of the five steps before an explosion, and exactly twice not', () => {
    expect(entropyTrend(pointsOf([1, 1, 1, 1, 1, 2]), OPTIONS).explosion.at(-1)).toBe(false);
    expect(entropyTrend(pointsOf([1, 1, 1, 1, 1, 2.01]), OPTIONS).explosion.at(-1)).toBe(true);
    expect(entropyTrend(pointsOf([1, 1, 1, 1, 2.01]), OPTIONS).explosion.at(-1)).toBe(false);
  });
});

/** A run of one step per entry: metrics, and the entropies of the tokens of its only turn. */
function diagnose(steps: readonly { metrics: Record<string, number>; tokens?: Record<string, number[]> }[]) {
  const outcomes = steps.map(({ metrics, tokens }, trainingStep) => {
    const record = { id: 't', group: 'g', trainingStep, turns: [tokens ? { tokens } : {}] };
    const step = { trainingStep, trajectories: trajectoryBatch([record]), metrics, checkpoint: null };
    return { trainingStep, outcome: measureStep(entropyTrendDiagnostic, step) };
  });
  return readRun(entropyTrendDiagnostic, outcomes);
}

it('reads the metric where it was recorded, else the tokens that the policy generated', () => {
  const run = diagnose([
    { metrics: { entropy: 0.5 }, tokens: { entropy: [9, 9] } },
    { metrics: {}, tokens: { entropy: [0.2, 0.4, 100], mask: [1, 1, 0] } },
    { metrics: {} },
  ]);
  expect(run.steps.map(({ trainingStep }) => trainingStep)).toEqual([0, 1]);
  expect(run.steps.map(({ values }) => values['entropy'])).toEqual([0.5, expect.closeTo(0.3, 6)]);
});

it('warns below the target and says what it saw', () => {
  const run = diagnose([0.8, 0.5, 0.2, 0.19, 0.18].map((entropy) => ({ metrics: { entropy, score: entropy } })));
  expect(run.alerts).toMatchObject([{ rule: 'below-target', level: 'warn', openedAt: 4, saw: { entropy: 0.18 } }]);
  expect(run.sentence).toMatch(/^entropy went from 0\.374 to 0\.18 nats per token: 52 % is spent/);
});

it('is critical when entropy is spent and the score stands still, not while it rises', () => {
  const spent = [1, 1, 1, 1, 1, 0.09, 0.09, 0.09];
  const rules = (score: (step: number) => number) =>
    diagnose(spent.map((entropy, step) => ({ metrics: { entropy, score: score(step) } }))).alerts.map(
      ({ rule }) => rule,
    );
  expect(rules(() => 0.5)).toContain('spent');
  expect(rules((step) => step / 10)).not.toContain('spent');
});

it('says so where no step has an entropy', () => {
  const sentence = 'nothing to measure yet: needs the metric entropy, or token.entropy';
  expect(diagnose([{ metrics: {} }])).toMatchObject({ sentence, values: {}, alerts: [] });
});
