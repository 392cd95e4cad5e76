import { expect, it } from 'vitest';
import { minMaxScaled } from './min-max.js';

it('places values between the least and the greatest', () => {
  expect([...minMaxScaled(Float64Array.of(2, 6, 3), null, 1)]).toEqual([0, 1, 0.25]);
  expect([...minMaxScaled(Float64Array.of(2, 6, 3), null, 1, 4)]).toEqual([0, 0.5, 0.125]);
});

it('keeps segments apart', () => {
  expect([...minMaxScaled(Float64Array.of(0, 10, 4, 5), Int32Array.of(0, 1, 0, 1), 2)]).toEqual([0, 1, 1, 0]);
});

it('gives exactly 0 where all are equal, up to rounding', () => {
  expect([...minMaxScaled(Float64Array.of(0.1 + 0.2, 0.3), null, 1, 1e-8)]).toEqual([0, 0]);
  expect([...minMaxScaled(new Float64Array(0), null, 1)]).toEqual([]);
});

it('leaves out what says nothing', () => {
  expect([...minMaxScaled(Float64Array.of(NaN, 1, 3), null, 1)]).toEqual([NaN, 0, 1]);
});
