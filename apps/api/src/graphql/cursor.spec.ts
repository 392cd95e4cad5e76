import { describe, expect, it } from 'vitest';
import { cursorOf, keyFrom, type KeyPart } from './cursor.js';

it('brings a key back as it was', () => {
  const parts: KeyPart[] = ['instant', 'text', 'integer', 'position'];
  const key = [new Date(0).toISOString(), 'é"', -1, 2 ** 40];
  expect(keyFrom(cursorOf(key), { parts })).toEqual(key);
});

describe('a cursor that is none of this list', () => {
  it.each<[string, KeyPart[]]>([
    ['', ['text']],
    ['nonsense', ['text']],
    [cursorOf(['a']), ['text', 'text']],
    [cursorOf(['a', 'b']), ['text']],
    [cursorOf([1]), ['text']],
    [cursorOf(['yesterday']), ['instant']],
    [cursorOf(['2026-13-45T00:00:00.000Z']), ['instant']],
    [cursorOf([2 ** 31]), ['integer']],
    [cursorOf([0.5]), ['integer']],
    [cursorOf(['1']), ['position']],
    [cursorOf([2 ** 53]), ['position']],
    [Buffer.from('[{"a":1}]').toString('base64url'), ['text']],
  ])('%j is refused', (cursor, parts) => {
    expect(() => keyFrom(cursor, { parts })).toThrow(expect.objectContaining({ code: 'query.invalid' }));
  });
});
