import { expect, it } from 'vitest';
import { toUnit } from '../../charts/sparkline.js';
import { saidOf, sentence, valueText, wordsOf } from './diagnostic-text.js';
import { byTopic } from './topics.js';

it('puts every diagnostic under one topic, those that nobody has placed at the end', () => {
  const ids = ['a-new-one', 'pass-at-k', 'zero-variance-groups', 'learning-plateau'].map((id) => ({ id }));
  expect(byTopic(ids).map(([title, members]) => [title, members.map(({ id }) => id)])).toEqual([
    ['Learning signal', ['zero-variance-groups']],
    ['Progress', ['pass-at-k', 'learning-plateau']],
    ['More', ['a-new-one']],
  ]);
});

it('writes a value in its unit', () => {
  expect(valueText('groupFraction', 0.5)).toBe('50.0 %');
  expect(valueText('groups', 1234)).toBe('1,234');
  expect(valueText('inGroupStd', 0.35355)).toBe('0.354');
  expect(valueText('dropRate', 1.5)).toBe('1.500'); // no share after all
  expect(valueText('groups', null)).toBe('–');
  expect([
    wordsOf('inGroupStd'),
    sentence('half of it'),
    sentence('All.'),
    sentence('turn.toolName is missing'),
  ]).toEqual(['in group std', 'Half of it.', 'All.', 'turn.toolName is missing.']);
});

it('stretches a curve between its ends, and leaves gaps as they are', () => {
  expect([...toUnit(Float64Array.of(2, 4, Number.NaN, 3))]).toEqual([0, 1, Number.NaN, 0.5]);
  expect([...toUnit(Float64Array.of(7, 7))]).toEqual([0.5, 0.5]);
});

it('says why there is no number: the failure and what is lacking before all else', () => {
  const told = { value: null, reading: 'cannot be said', headline: 'x', missing: [], failed: [], reasons: {} };
  expect(saidOf({ ...told, value: 1, failed: ['boom (1 training step)'], reading: 'one' })).toBe('one');
  expect(saidOf({ ...told, failed: ['boom'], missing: ['turn.toolName is missing'] })).toBe(
    'failed: boom; turn.toolName is missing',
  );
  expect(saidOf({ ...told, reasons: { x: 'needs 2 rollouts', y: 'else' } })).toBe('needs 2 rollouts');
  expect(saidOf(told)).toBe('cannot be said');
});
