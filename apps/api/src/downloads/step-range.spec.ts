import { expect, it } from 'vitest';
import { stepRange } from './step-range.js';

const LAST = 2 ** 31 - 1;

it.each([
  [undefined, 0, LAST],
  ['3..7', 3, 7],
  ['3..', 3, LAST],
  ['..7', 0, 7],
  ['3', 3, 3],
  ['0', 0, 0],
])('%s', (text, first, last) => expect(stepRange(text)).toEqual({ first, last }));

it.each([
  '',
  '..',
  '7..3',
  '-1..3',
  'a..b',
  '1.5..2',
  '0..2147483648',
  '99999999999',
  '1...2',
  '1..2..3',
  ' 1',
  ['1', '2'],
])('%j is refused', (text) => {
  expect(() => stepRange(text)).toThrow(expect.objectContaining({ code: 'request.invalid' }));
});
