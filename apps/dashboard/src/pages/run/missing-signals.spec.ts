import { expect, it } from 'vitest';
import { missingSignals } from './missing-signals.js';

it('names what an estimator needs and a run lacks; texts are always there', () => {
  const signals = [
    { level: 'turn', name: 'valueEstimate' },
    { level: 'trajectory', name: 'outcomeReward' },
  ];
  const requires = ['turn.state', 'trajectory.outcomeReward', 'token.valueEstimate', 'turn.valueEstimate'];
  expect(missingSignals(requires, signals)).toEqual(['token.valueEstimate']);
});
