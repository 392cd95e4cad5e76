import { onlineClusters, rowsWhere, seededRandom, topRows } from '#lib/numeric';
import { describe, expect, it } from 'vitest';
import { cosineClusters, type GroupedRows } from './cosine-clusters.js';
import { nearestRows } from './nearest-rows.js';
import { normalEquations } from './normal-equations.js';
import type { Rows } from './rows.js';
import { dot, failing, limited, rowOf, TESTED, testedDevice } from '../../../test/support/tested-device.js';
import { FEATURE_WIDTH, textFeatures } from './text-features.js';

/** float32 against float64, of cosines */
const TOLERANCE = 1e-6;

const device = await testedDevice();
const cosine = (rows: Rows, a: number, b: number) => dot(rowOf(rows, a), rowOf(rows, b));

/** Unit rows around a few directions, so that some resemble each other and others do not. */
function scattered(count: number, width: number, directions: number, seed: string): Rows {
  const random = seededRandom(seed);
  const centres = Array.from({ length: directions }, () => Array.from({ length: width }, () => random.normal()));
  const values = new Float32Array(count * width);
  for (let row = 0; row < count; row++) {
    const centre = centres[random.integer(directions)];
    const raw = centre.map((value) => value + 0.4 * random.normal());
    const length = Math.hypot(...raw);
    raw.forEach((value, k) => (values[row * width + k] = value / length));
  }
  return { values, width };
}

const lost = (on = device) => failing(on, 'matMul', 2);

describe(`on ${TESTED}`, () => {
  describe('cosineClusters', () => {
    const vectors = scattered(60, 12, 9, 'clusters');
    const random = seededRandom('groups');
    const group = Int32Array.from({ length: 150 }, () => random.integer(4));
    const vectorOf = Int32Array.from({ length: 150 }, () => random.integer(60));
    const rows: GroupedRows = { vectors, vectorOf, group };

    it('are the online clusters of the cosine, whatever the blocks', async () => {
      for (const threshold of [0.5, 0.85, 0.99]) {
        const twin = onlineClusters(group, (a, b) => cosine(vectors, vectorOf[a], vectorOf[b]) >= threshold);
        for (let a = 0; a < 60; a++) {
          for (let b = 0; b < a; b++)
            expect(Math.abs(cosine(vectors, a, b) - threshold), 'a fair case').toBeGreaterThan(TOLERANCE);
        }
        expect(twin.count).toBeLessThan(150);
        for (const block of [512, 7, 1]) expect(await cosineClusters(device, rows, threshold, block)).toEqual(twin);
      }
    }, 120_000);

    it('never hold a row of zeros and another one', async () => {
      const zeros = { vectors: { values: new Float32Array(6), width: 2 }, vectorOf: Int32Array.of(0, 1, 1), group: new Int32Array(3) }; // prettier-ignore
      expect([...(await cosineClusters(device, zeros, 0.5)).labels]).toEqual([0, 1, 2]);
    });

    it('are none of no row', async () => {
      const none = { vectors: { values: new Float32Array(0), width: 4 }, vectorOf: new Int32Array(0), group: new Int32Array(0) }; // prettier-ignore
      expect(await cosineClusters(device, none, 0.5)).toEqual({ labels: new Int32Array(0), count: 0 });
    });

    it('are the same twice', async () => {
      expect(await cosineClusters(device, rows, 0.85)).toEqual(await cosineClusters(device, rows, 0.85));
    });

    it('make no tensor beyond the limit of the device', async () => {
      const small = limited(device, 50);
      expect(await cosineClusters(small.device, rows, 0.85)).toEqual(await cosineClusters(device, rows, 0.85));
      expect(small.largest()).toBeGreaterThan(0);
      expect(small.largest()).toBeLessThanOrEqual(50);
    }, 120_000);

    it('leave no tensor behind when the device fails', async () => {
      const before = device.tf.memory().numTensors;
      await expect(cosineClusters(lost(), rows, 0.85, 16)).rejects.toThrow('device lost');
      expect(device.tf.memory().numTensors).toBe(before);
    });
  });

  describe.each([
    ['nearestRows', device],
    ['nearestRows, chosen where they are multiplied', { ...device, id: 'webgpu' as const }],
  ])('%s', (_, device) => {
    const vectors = scattered(40, 10, 40, 'nearest');

    it('are the top rows of the products', async () => {
      const nearest = await nearestRows(device, vectors, null, 5, 16);
      for (let query = 0; query < 40; query++) {
        const others = rowsWhere(40, (row) => row !== query);
        const products = Float64Array.from({ length: 40 }, (_, row) => cosine(vectors, query, row));
        const found = nearest.rows.subarray(query * 5, query * 5 + 5);
        expect([...found].sort((a, b) => a - b)).toEqual([...topRows(products, others, 5)]);
        found.forEach((row, i) =>
          expect(Math.abs(nearest.similarity[query * 5 + i] - products[row])).toBeLessThan(TOLERANCE),
        );
      }
    }, 120_000);

    it('make no tensor beyond the limit of the device', async () => {
      const small = limited(device, 60);
      const nearest = await nearestRows(small.device, vectors, null, 3);
      expect(nearest.rows).toEqual((await nearestRows(device, vectors, null, 3)).rows);
      expect(small.largest()).toBeGreaterThan(0);
      expect(small.largest()).toBeLessThanOrEqual(60);
    }, 120_000);

    it('leave no tensor behind when the device fails', async () => {
      const before = device.tf.memory().numTensors;
      await expect(nearestRows(lost(device), vectors, null, 3, 8)).rejects.toThrow('device lost');
      expect(device.tf.memory().numTensors).toBe(before);
    });

    it('are none of no candidate', async () => {
      const none = { values: new Float32Array(0), width: 10 };
      const { rows, similarity } = await nearestRows(device, vectors, none, 2);
      expect([new Set(rows), new Set(similarity)]).toEqual([new Set([-1]), new Set([NaN])]);
    });
  });

  it('products of long rows are the same twice, bit for bit', async () => {
    const wide = scattered(30, 3000, 5, 'wide');
    const targets = scattered(3000, 1, 3, 'targets').values;
    const once = async () => [
      await nearestRows(device, wide, null, 5),
      await normalEquations(device, { values: wide.values, width: 30 }, targets),
    ];
    const first = await once();
    for (let again = 0; again < 5; again++) expect(await once()).toEqual(first);
  }, 120_000);

  describe('textFeatures', () => {
    const texts = Array.from({ length: 30 }, (_, i) => `the ${'very '.repeat(i)}long way to room ${i}, shelf ${i % 7}`);

    it('of equal texts are equal bit for bit, in whatever company', async () => {
      const company = Array.from({ length: 150 }, (_, i) => words(3 + (i % 9), 7 * i));
      const features = await textFeatures(device, ['the red door', ...company, 'The red door!', words(2_000)], 0);
      const last = FEATURE_WIDTH * 151;
      expect([...features.subarray(last, last + FEATURE_WIDTH)]).toEqual([...features.subarray(0, FEATURE_WIDTH)]);
    }, 120_000);

    it('make no tensor beyond the limit of the device', async () => {
      const small = limited(device, 20 * FEATURE_WIDTH);
      const features = await textFeatures(small.device, [...texts, words(2_000)], 0);
      expect(small.largest()).toBeLessThanOrEqual(20 * FEATURE_WIDTH);
      const alone = await textFeatures(device, [...texts, words(2_000)], 0);
      features.forEach((value, i) => expect(Math.abs(value - alone[i])).toBeLessThan(TOLERANCE));
    }, 120_000);

    it('leave no tensor behind when the device fails', async () => {
      const before = device.tf.memory().numTensors;
      await expect(textFeatures(lost(), [...texts, words(2_000), words(2_000, 1)], 0)).rejects.toThrow('device lost');
      expect(device.tf.memory().numTensors).toBe(before);
    });
  });
});

const words = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `word${from + i}`).join(' ');
