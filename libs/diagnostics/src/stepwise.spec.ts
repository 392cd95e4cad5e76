import { expect, it } from 'vitest';
import { z } from 'zod';
import { readRun } from './run-diagnostic.js';
import { stepwise, type StepMeasure } from './stepwise.js';

const none = z.strictObject({});

function read(figures: readonly StepMeasure[]) {
  const diagnostic = stepwise({
    id: 'sample',
    version: 1,
    title: 'Sample',
    question: 'What?',
    remedy: 'Nothing.',
    headline: 'share',
    level: 'trainingStep',
    status: 'own',
    source: 'ours',
    requires: [],
    accepts: [],
    metrics: [],
    params: none,
    thresholds: none,
    measure: () => null,
    rules: () => [],
    sentence: ({ share }) => `a share of ${share}`,
  });
  return readRun(
    diagnostic,
    figures.map((one, trainingStep) => ({ trainingStep, outcome: { kind: 'figures', figures: one } })),
  );
}

it('takes means weighted by observations, over the steps that have the value', () => {
  const run = read([
    { values: { share: 0.5, lift: null }, observations: 30 },
    { values: { share: 1, lift: 2 }, observations: 10 },
    { values: { share: null, lift: null }, observations: 100 },
  ]);
  expect(run.values).toEqual({ share: 0.625, lift: 2 });
  expect(run.sentence).toBe('a share of 0.625');
});

it('says why a value is undefined', () => {
  const run = read([{ values: { share: 1, lift: null }, reasons: { lift: 'needs two kinds' }, observations: 1 }]);
  expect(run.reasons).toEqual({ lift: 'needs two kinds' });
});

it('shows the strongest evidence of all steps', () => {
  const many = Array.from({ length: 15 }, (_, i) => ({ note: `n${i}`, weight: i }));
  const run = read([
    { values: {}, observations: 1, evidence: many },
    { values: {}, observations: 1, evidence: [{ note: 'strongest', weight: 99, group: 'g' }, ...many] },
  ]);
  expect(run.evidence).toHaveLength(20);
  expect(run.evidence[0]).toEqual({ trainingStep: 1, group: 'g', note: 'strongest' });
});
