import { expect, it } from 'vitest';
import { diagnoseSteps } from '../diagnose-steps.fixture.js';
import { tokenBatch, tokenRecords } from '../token-records.fixture.js';
import { entropyStep, entropyStepDiagnostic } from './entropy-step.js';

const OPTIONS = { quantiles: [0, 0.5, 1], forkQuantile: 0.8 };
const stepOf = (...tokens: Parameters<typeof tokenBatch>) => entropyStep(tokenBatch(...tokens), OPTIONS);

it('takes tokens and trajectories as units of its two means', () => {
  const step = stepOf({ entropy: [1, 2, 3] }, { entropy: [4, 100], mask: [1, 0] });
  expect(step).toMatchObject({ tokenCount: 4, tokenMean: 2.5, sequenceMean: 3, quantiles: [1, 2.5, 4] });
});

it('gives the forks the entropy at and above the quantile', () => {
  const step = stepOf({ entropy: [1, 1, 1, 1, 6] });
  expect(step.highEntropyThreshold).toBeCloseTo(2, 12);
  expect(step.highEntropyShareOfMass).toBeCloseTo(0.6, 12);
});

it('estimates the entropy by the surprisal where none was recorded, and says so', () => {
  const run = diagnoseSteps(entropyStepDiagnostic, [{ records: tokenRecords({ logprob: [-0.5, -1.5] }) }]);
  expect(run.values).toMatchObject({ tokenMean: null, median: null, surprisalMean: 1 });
  expect(run.reasons['tokenMean']).toBe('the entropy of tokens was not recorded');
  expect(run.sentence).toBe('1 nat of surprisal per token, which estimates the entropy: none was recorded');
});

it('has nothing to say of trajectories without tokens', () => {
  const run = diagnoseSteps(entropyStepDiagnostic, [{ records: [{ id: 't', group: 'g', turns: [{}] }] }]);
  expect(run).toMatchObject({ sentence: 'nothing to measure yet: needs token.entropy or token.logprob', alerts: [] });
});
