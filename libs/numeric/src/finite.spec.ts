import { expect, it } from 'vitest';
import { areFinite } from './finite.js';

it('knows columns that hold nothing but numbers', () => {
  expect(areFinite(Float64Array.of())).toBe(true);
  expect(areFinite(Float64Array.of(0, -0, 1e308, -1e308, 5e-324))).toBe(true);
  expect(areFinite(Float32Array.of(1, 3e38))).toBe(true);
});

it.each([NaN, Infinity, -Infinity])('finds %d wherever it stands', (odd) => {
  expect(areFinite(Float64Array.of(odd, 1, 2))).toBe(false);
  expect(areFinite(Float64Array.of(1, 2, odd))).toBe(false);
  expect(areFinite(Float32Array.of(1, odd, 2))).toBe(false);
  expect(areFinite(Float64Array.of(Infinity, odd, -Infinity))).toBe(false);
});
