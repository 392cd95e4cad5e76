import { describe, expect, it } from 'vitest';
import { composeOffsets, lastOfRows, ownerOf, repeatRows, rowLengths, rowMeans } from './offsets.js';

// rows of 2, 0 and 3 children
const OFFSETS = Int32Array.of(0, 2, 2, 5);

describe('ragged rows', () => {
  it('have lengths, also of nothing', () => {
    expect([...rowLengths(OFFSETS)]).toEqual([2, 0, 3]);
    expect([...rowLengths(Int32Array.of(0))]).toEqual([]);
  });

  it('have lengths without what is masked; a mask that is not said lets through', () => {
    expect([...rowLengths(OFFSETS, Float32Array.of(1, 0, NaN, 0, 0))]).toEqual([1, 0, 1]);
  });

  it('end with their last child that is not masked, or with none', () => {
    expect([...lastOfRows(OFFSETS)]).toEqual([1, -1, 4]);
    expect([...lastOfRows(OFFSETS, Float32Array.of(0, 0, 1, NaN, 0))]).toEqual([-1, -1, 3]);
  });

  it('own their children', () => {
    expect([...ownerOf(OFFSETS)]).toEqual([0, 0, 2, 2, 2]);
  });

  it('compose: rows of rows are rows', () => {
    const grandchildren = Int32Array.of(0, 1, 4, 4, 6, 7);
    expect([...composeOffsets(OFFSETS, grandchildren)]).toEqual([0, 4, 4, 7]);
  });

  it('repeat their value downwards, 0 where masked', () => {
    expect([...repeatRows(Float64Array.of(7, 8, 9), OFFSETS)]).toEqual([7, 7, 9, 9, 9]);
    const mask = Float32Array.of(1, 0, NaN, 1, 0);
    expect([...repeatRows(Float64Array.of(7, 8, 9), OFFSETS, mask)]).toEqual([7, 0, 9, 9, 0]);
  });

  it('average what their children say', () => {
    const values = Float64Array.of(1, 3, NaN, 5, 8);
    expect([...rowMeans(values, OFFSETS)]).toEqual([2, NaN, 6.5]);
    expect([...rowMeans(values, OFFSETS, Float32Array.of(0, 1, 1, 0, 1))]).toEqual([3, NaN, 8]);
    expect([...rowMeans(Float64Array.of(1e308, 1e308, 0, 1, 2), OFFSETS)]).toEqual([NaN, NaN, 1]);
  });
});
