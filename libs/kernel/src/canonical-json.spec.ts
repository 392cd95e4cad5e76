import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.js';

describe('canonicalJson', () => {
  it('sorts keys at every depth and leaves lists as they are', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }, 3], a: null, 10: 'x', 9: 'y' })).toBe(
      '{"10":"x","9":"y","a":null,"b":[{"c":2,"d":1},3]}',
    );
  });

  it('spells numbers as RFC 8785 does', () => {
    expect(canonicalJson([1 / 3, 1e30, 4.5, 2e-3, 1e-27, -0])).toBe('[0.3333333333333333,1e+30,4.5,0.002,1e-27,0]');
  });

  it('leaves out what is undefined, and refuses what JSON cannot hold', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
    for (const value of [undefined, NaN, Infinity, [NaN]]) expect(() => canonicalJson(value)).toThrow('no JSON form');
  });

  it('writes a lone surrogate as its escape', () => {
    expect(canonicalJson({ content: 'cut \ud83d' })).toBe(String.raw`{"content":"cut \ud83d"}`);
  });

  it('says the same value, whatever the order of its keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const shuffled: unknown = JSON.parse(JSON.stringify(value), (_, v: unknown) =>
          typeof v === 'object' && v !== null && !Array.isArray(v)
            ? Object.fromEntries(Object.entries(v).toReversed())
            : v,
        );
        expect(canonicalJson(shuffled)).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
