import { describe, expect, it } from 'vitest';
import { meantInstead, nearestName } from './nearest-name.js';

const NAMES = ['valueEstimate', 'entropy', 'logprob', 'refLogprob', 'hop', 'role', 'role'];

describe('the nearest name', () => {
  it.each([
    ['value_estimate', 'valueEstimate'],
    ['valueEstimat', 'valueEstimate'],
    ['valeuEstimate', 'valueEstimate'],
    ['ENTROPY', 'entropy'],
    ['entrpoy', 'entropy'],
    ['log-prob', 'logprob'],
    ['reflogprobs', 'refLogprob'],
    ['roel', 'role'],
  ])('of %s is %s', (name, nearest) => expect(nearestName(name, NAMES)).toBe(nearest));

  it.each(['', 'x', 'hip', 'advantage', 'value', 'valueEstimateAfterwards'])('of %j is none', (name) => {
    expect(nearestName(name, NAMES)).toBeNull();
  });

  it('is none where there are no names', () => expect(nearestName('entropy', [])).toBeNull());
});

describe('the end of a refusal of a name', () => {
  it.each([
    ['ENTROPI', ': was entropy meant?'],
    ['advantage', '; there are entropy, logprob'],
  ])('of %s is %s', (name, end) => expect(meantInstead(name, ['entropy', 'logprob'])).toBe(end));

  it('may say otherwise what there is', () => {
    expect(meantInstead('advantage', ['entropy'], ': entropy was wanted')).toBe(': entropy was wanted');
  });
});
