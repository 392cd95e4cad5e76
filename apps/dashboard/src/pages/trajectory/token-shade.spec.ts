import { expect, it } from 'vitest';
import type { RunOfTrajectory, Turn } from './queries.js';
import { tokenRange } from './token-range.js';
import { isSigned, shadeOf, shadeText, tokenShades } from './token-shade.js';

it('offers what was logged per token, and the estimators that speak of tokens', () => {
  const signals = ['entropy', 'mask', 'loggedAdvantage'].map((name) => ({
    level: 'token',
    name,
    minimum: null,
    maximum: null,
  }));
  const run: RunOfTrajectory = {
    id: 'r',
    name: 'r',
    signals: [{ level: 'turn', name: 'reward', minimum: 0, maximum: 1 }, ...signals],
    analyses: { edges: [] },
  };
  const credit = [
    { estimator: 'grpo', credit: 1, level: 'trajectory' },
    { estimator: 'gae', credit: 1, level: 'token' },
    { estimator: 'igpo', credit: null, level: null },
  ];
  const turn: Turn = { index: 0, cursor: '', state: '', action: '', reward: null, signals: {}, credit };
  expect(tokenShades(run, [turn, { ...turn, index: 1 }])).toEqual({
    signals: ['entropy', 'loggedAdvantage'],
    credits: ['gae'],
  });
});

it('stands in the address and comes back from there', () => {
  expect(shadeOf(undefined)).toBeUndefined();
  for (const shade of [{ of: 'signal', name: 'entropy' } as const, { of: 'credit', name: 'gae:2' } as const]) {
    expect(shadeOf(shadeText(shade))).toEqual(shade);
  }
});

it('knows which numbers have a sign that matters', () => {
  const signed = ['loggedAdvantage', 'reward', 'processReward', 'entropy', 'logprob'].filter((name) =>
    isSigned({ of: 'signal', name }),
  );
  expect(signed).toEqual(['loggedAdvantage', 'reward', 'processReward']);
  expect(isSigned({ of: 'credit', name: 'entropy-fork-mask' })).toBe(true);
});

it('takes the range of the tokens that are trained on, as their turn has its credit from them', () => {
  expect(tokenRange([2, null, -9, 4], [1, 1, 0, 1])).toEqual({ counted: 2, low: 2, high: 4, mean: 3 });
  expect(tokenRange([-1, 1], undefined)).toEqual({ counted: 2, low: -1, high: 1, mean: 0 });
  expect(tokenRange([null, 5], [1, 0])).toBeNull();
});
