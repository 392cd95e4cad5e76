import { expect, it } from 'vitest';
import { figure, percent } from './sentences.js';

it.each([
  [0, '0 %'],
  [0.0004, '< 0.1 %'],
  [0.004, '0.4 %'],
  [0.5, '50 %'],
  [0.624, '62 %'],
  [0.996, '99.6 %'],
  [0.99999, '> 99.9 %'],
  [1, '100 %'],
])('writes the share %d as %s', (share, text) => expect(percent(share)).toBe(text));

it.each([
  [0.012345, '0.0123'],
  [1.234, '1.23'],
  [-12345, '-12,300'],
])('writes %d as %s', (value, text) => expect(figure(value)).toBe(text));
