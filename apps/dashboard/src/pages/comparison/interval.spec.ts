import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Interval } from './Interval.js';

const write = (value: number) => value.toFixed(2);
const htmlOf = (value: number | null, low: number | null, high: number | null, rest: object = {}) =>
  renderToStaticMarkup(
    createElement(Interval, { estimate: { value, low, high }, from: -1, write, isDrawn: true, ...rest }),
  );

it('draws a number and its interval on their scale, coloured by the side of chance it is on', () => {
  const html = htmlOf(0.5, 0, 1);
  expect(html).toContain('>0.50<');
  expect(html).toContain('(0.00 to 1.00)');
  // 110 pixels for -1 to 1: 0 lies at 55, 0.5 at 82.5
  expect(html).toMatch(/<rect class="above"[^>]* x="55"[^>]* width="55"/);
  expect(html).toMatch(/<circle class="above" cx="82.5"/);
  expect(htmlOf(-0.5, -1, 0)).toMatch(/<circle class="below"/);
  expect(htmlOf(0.49, 0.4, 0.6, { from: 0 })).toMatch(/<circle class="below" cx="53.9/);
});

it('says a dash where there is no number, and no brackets where there is no interval', () => {
  expect(htmlOf(null, null, null)).toBe('–');
  expect(htmlOf(0.5, null, null)).not.toContain('(');
  expect(htmlOf(0.5, 0.4, 0.6, { isDrawn: false })).not.toContain('<svg');
  expect(htmlOf(0.5, 0.4, 0.6, { writeLimit: (value: number) => `${value * 100}` })).toContain('(40 to 60)');
});
