import { expect, it } from 'vitest';
import { agreeing, counted, figure, percent } from './sentences.js';

it.each([
  [0, '0 %'],
  [0.0004, '< 0.1 %'],
  [0.004, '0.4 %'],
  [0.5, '50 %'],
  [0.624, '62 %'],
  [0.996, '99.6 %'],
  [0.99999, '> 99.9 %'],
  [1, '100 %'],
  [-0, '0 %'],
  [-0.0004, '> −0.1 %'],
  [-0.125, '−13 %'],
  [-0.99999, '< −99.9 %'],
  [-1, '−100 %'],
])('writes the share %d as %s', (share, text) => expect(percent(share)).toBe(text));

it.each([
  [0.012345, '0.0123'],
  [1.234, '1.23'],
  [-12345, '−12,300'],
  [-0.2191, '−0.219'],
  [-0, '0'],
])('writes %d as %s', (value, text) => expect(figure(value)).toBe(text));

it.each([
  [1, 'task', '1 task'],
  [0, 'task', '0 tasks'],
  [1034, 'task', '1,034 tasks'],
  [1.5, 'turn', '1.5 turns'],
])('counts %d %s as %s', (value, singular, text) => expect(counted(value, singular)).toBe(text));

it('counts what has a plural of its own', () => {
  expect([1, 2].map((n) => counted(n, 'trajectory', 'trajectories'))).toEqual(['1 trajectory', '2 trajectories']);
});

it.each([
  [1, 40, 'is'],
  [0, 40, 'are'],
  [2, 40, 'are'],
  [0, 1, 'is'],
  [1, 1, 'is'],
])('lets the verb after "%d of %d" agree: %s', (part, whole, verb) =>
  expect(agreeing(part, whole, 'is', 'are')).toBe(verb),
);
