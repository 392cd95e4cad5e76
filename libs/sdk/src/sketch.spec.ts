import { seededRandom } from '#lib/numeric';
import { expect, it } from 'vitest';
import { sketchOf } from './sketch.js';

const dot = (a: ArrayLike<number>, b: ArrayLike<number>) => Array.from(a).reduce((sum, x, i) => sum + x * b[i], 0);

it('keeps lengths and angles, within what so few numbers can', () => {
  const random = seededRandom('sketch');
  const draw = () => Float64Array.from({ length: 20_000 }, () => random.normal());
  const [x, noise] = [draw(), draw()];
  const y = x.map((value, i) => value + noise[i]);
  const [a, b] = [x, y].map((w) => sketchOf({ w }).sketch);
  const far = 4 / Math.sqrt(1024); // four standard errors and more
  for (const [u, v, real] of [
    [a, a, dot(x, x)],
    [b, b, dot(y, y)],
    [a, b, dot(x, y)],
  ] as const) {
    // prettier-ignore
    expect(Math.abs(dot(u, v) / real - 1)).toBeLessThan(far);
  }
});

it('is linear: the sketch of a difference is the difference of sketches', () => {
  const of = (...w: number[]) => sketchOf({ w }, { dimensions: 2 }).sketch;
  expect([...of(3, 5, 8, 1)].map((value, i) => value - of(1, 1, 1, 1)[i])).toEqual([...of(2, 4, 7, 0)]);
});

it('takes the layers of a kind together, and names all of them', () => {
  const { sketch, tensors, projection } = sketchOf(
    { 'h.1.w': [1, 2], 'h.0.w': [3], 'lm_head.w': [4], '2': [1] },
    { dimensions: 3, seed: 7 },
  );
  expect(tensors).toEqual(['*', 'h.*.w', 'lm_head.w'].map((name) => ({ name, size: 3 })));
  expect(sketch).toHaveLength(9);
  expect(projection).toEqual({ method: 'count-sketch', dimensions: 3, seed: 7 });
  expect(dot(sketch.subarray(6), sketch.subarray(6))).toBe(16);
});

it('makes the same numbers as ever, and as the Python SDK', () => {
  const w = Array.from({ length: 12 }, (_, i) => i + 1);
  expect([...sketchOf({ 'h.0.w': w, é: [0.5, -2] }, { dimensions: 4, seed: 3 }).sketch]).toEqual([
    -15, 3, -10, -4, -0.5, 0, -2, 0,
  ]);
});
