import { expect, it } from 'vitest';
import { excerptOf } from './excerpt.js';

it('is a short text as it is, and how a long one begins', () => {
  expect(excerptOf('go north')).toBe('go north');
  expect(excerptOf('x'.repeat(1000))).toBe(`${'x'.repeat(160)}…`);
  expect(excerptOf(`${'x'.repeat(159)}👩`.padEnd(400, 'y'))).toBe(`${'x'.repeat(159)}…`);
});

it('is the last of chat messages, or the JSON as it is where there is no text', () => {
  expect(
    excerptOf(
      JSON.stringify([
        { role: 'user', content: 'a' },
        { role: 'user', content: 'you see a door' },
      ]),
    ),
  ).toBe('you see a door');
  for (const text of ['[not json', '[]', '{"role":"user"}', '[null]']) expect(excerptOf(text)).toBe(text);
});
