import { expect, it } from 'vitest';
import { explanationOf, isSound, stepsText, type Finding } from './audit-result.js';

const finding: Finding = {
  verdict: 'match',
  formula: 'grpo',
  transform: 'identity',
  turnPattern: null,
  mask: null,
  trainingSteps: 1,
  firstStep: 3,
  lastStep: 3,
  isStable: false,
  equallyGood: [],
  otherEstimators: [],
  mismatchShare: 0,
  worst: [],
};

it('takes a match for sound unless its mask is wrong', () => {
  expect(isSound(finding)).toBe(true);
  expect(isSound({ ...finding, mask: 'mask-ok' })).toBe(true);
  expect(isSound({ ...finding, mask: 'mask-shifted' })).toBe(false);
  expect(isSound({ ...finding, verdict: 'all-zero' })).toBe(false);
});

it('names what the numbers are, and says so where nobody knows', () => {
  expect(explanationOf(finding)).toBe('grpo');
  expect(explanationOf({ ...finding, transform: 'scaled', turnPattern: 'only-last-turn' })).toBe(
    'grpo, scaled, only-last-turn',
  );
  expect(explanationOf({ ...finding, formula: null, transform: null, otherEstimators: ['gae'] })).toBe('gae');
  expect(explanationOf({ ...finding, formula: null, transform: null })).toContain('nothing that we know');
  expect([stepsText(finding), stepsText({ firstStep: 0, lastStep: 9 })]).toEqual(['step 3', 'steps 0 to 9']);
});
