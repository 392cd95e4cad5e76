import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { rollout } from './estimator.fixture.js';
import { creditAt, turnCredit } from './turn-credit.js';

// a: two turns of 3 and 0 tokens; b: no turn; c: one turn of 2 tokens
const TRAJECTORIES = trajectoryBatch([
  rollout('g', 0, [{ tokens: { mask: [1, 1, 0] } }, {}]),
  rollout('g', 0, []),
  rollout('g', 0, [{ tokens: { mask: [0, 1] } }]),
]);
const ofTrajectories = { level: 'trajectory', values: Float64Array.of(1, 2, 3) } as const;
const ofTokens = { level: 'token', values: Float64Array.of(2, 4, 99, 7, NaN) } as const;

it('gives one number per turn', () => {
  expect([...turnCredit(TRAJECTORIES, ofTrajectories)]).toEqual([1, 1, 3]);
  expect([...turnCredit(TRAJECTORIES, { level: 'turn', values: Float64Array.of(5, NaN, 6) })]).toEqual([5, NaN, 6]);
});

it('averages the generated tokens of a turn, and says nothing where there is none', () => {
  expect([...turnCredit(TRAJECTORIES, ofTokens)]).toEqual([3, NaN, NaN]);
});

it('is repeated downwards and never gathered upwards', () => {
  expect([...creditAt(TRAJECTORIES, ofTrajectories, 'token')!]).toEqual([1, 1, 0, 0, 3]);
  expect(creditAt(TRAJECTORIES, ofTokens, 'turn')).toBeNull();
  expect(creditAt(TRAJECTORIES, { level: 'turn', values: new Float64Array(3) }, 'trajectory')).toBeNull();
});
