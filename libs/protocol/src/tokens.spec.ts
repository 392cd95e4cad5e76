import { expect, it } from 'vitest';
import { overflowingToken, tokenCount, tokenNumbers } from './tokens.js';

const base64 = (array: Float32Array | Uint16Array) => Buffer.from(array.buffer).toString('base64');

it('reads JSON numbers, float32 and float16 alike', () => {
  expect([...tokenNumbers([0.5, null, -2])!]).toEqual([0.5, NaN, -2]);
  expect([...tokenNumbers({ f32: base64(Float32Array.of(0.5, NaN, -2)) })!]).toEqual([0.5, NaN, -2]);
  // 0x3800 = 0.5, 0xc000 = -2, 0x0001 = 2^-24, 0x7bff = 65504
  expect([...tokenNumbers({ f16: base64(Uint16Array.of(0x3800, 0xc000, 1, 0x7bff)) })!]).toEqual([
    0.5,
    -2,
    2 ** -24,
    65504,
  ]);
});

it('says null for texts and vectors', () => {
  expect(tokenNumbers(['decision', 'content'])).toBeNull();
  expect(tokenNumbers([[0.1, 0.2]])).toBeNull();
});

it('counts tokens without decoding them', () => {
  expect(tokenCount([1, 2, 3])).toBe(3);
  expect(tokenCount({ f32: base64(new Float32Array(5)) })).toBe(5);
  expect(tokenCount({ f16: base64(new Uint16Array(3)) })).toBe(3);
  expect(tokenCount({ f32: '?' })).toBeNaN();
});

it('finds the first number that a float32 cannot hold', () => {
  const end = 2 ** 128 - 2 ** 103;
  expect(Math.fround(end)).toBe(Infinity);
  expect(overflowingToken([0, null, 'a', 1e38, -end, end])).toBe(4);
  expect(overflowingToken([3.4028235677973362e38, -1e-50])).toBe(-1);
  expect(Math.fround(3.4028235677973362e38)).toBeLessThan(Infinity);
});
