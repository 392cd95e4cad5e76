import { expect, it } from 'vitest';
import { makeKeyText, parseKeyText } from './key-text.js';

it('reads the keys it makes', () => {
  const { text, ...made } = makeKeyText();
  expect(text).toMatch(/^rk_[0-9a-f]{16}_[0-9a-f]{48}$/);
  expect(parseKeyText(text)).toEqual(made);
});

it('makes no key twice', () => {
  expect(new Set(Array.from({ length: 100 }, () => makeKeyText().text)).size).toBe(100);
});

it.each(['', 'rk__', 'rk_0_0', `rk_${'0'.repeat(16)}_${'0'.repeat(47)}`, `x rk_${'0'.repeat(16)}_${'0'.repeat(48)}`])(
  'takes %j for no key',
  (text) => expect(parseKeyText(text)).toBeNull(),
);
