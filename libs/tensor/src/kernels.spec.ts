import { seededRandom } from '#lib/numeric';
import { describe, expect, it } from 'vitest';
import { nearestRows, networkOutputs, normalEquations, textFeatures, trainNetwork } from './index.js';
import type { TrainingOptions, TrainingSet } from './index.js';
import { dot, rowOf, TESTED, testedDevice } from '../../../test/support/tested-device.js';
import { TERM_BUCKETS, termWeights } from './text-terms.js';

/** float32 against float64: relative to numbers of about 1 */
const DIGITS = 5;

const device = await testedDevice();

const normalRows = (count: number, width: number, seed = 'rows') => {
  const random = seededRandom(seed);
  return { values: Float32Array.from({ length: count * width }, () => random.normal()), width };
};

function unitRows(count: number, width: number) {
  const rows = normalRows(count, width);
  for (let i = 0; i < count; i++) {
    const row = rows.values.subarray(i * width, (i + 1) * width);
    const length = Math.hypot(...row);
    row.forEach((value, k) => (row[k] = value / length));
  }
  return rows;
}

describe(`on ${TESTED}`, () => {
  describe('textFeatures', () => {
    const texts = ['open the red door', 'open the blue door', 'sell twelve apples', '', 'Open the RED door!'];

    it('are the projected terms, of unit length; a text without a word is 0', async () => {
      const features = { values: await textFeatures(device, texts, 7), width: 256 };
      const lengths = texts.map((_, i) => Math.sqrt(dot(rowOf(features, i), rowOf(features, i))));
      [1, 1, 1, 0, 1].forEach((length, i) => expect(lengths[i]).toBeCloseTo(length, DIGITS));
      expect([...rowOf(features, 4)]).toEqual([...rowOf(features, 0)]);
    });

    it('of one word alone are the signs that follow from the seed', async () => {
      const features = await textFeatures(device, ['door'], 7);
      const random = seededRandom('projection 7');
      const [{ buckets }, words] = [termWeights(['door']), 256 / 32];
      for (let i = 0; i < buckets[0] * words; i++) random.integer(2 ** 32);
      const drawn = Array.from({ length: words }, () => random.integer(2 ** 32));
      features.forEach((value, k) =>
        expect(value).toBeCloseTo((drawn[Math.floor(k / 32)] >>> (k % 32)) & 1 ? 1 / 16 : -1 / 16, DIGITS + 2),
      );
    });

    it('have products near the cosines of the terms', async () => {
      const many = Array.from({ length: 12 }, (_, i) => `go to room ${i % 3} and take object ${i} from shelf ${i % 2}`);
      const features = { values: await textFeatures(device, many, 0), width: 256 };
      const { offsets, buckets, weights } = termWeights(many);
      const dense = many.map((_, i) => {
        const row = new Float32Array(TERM_BUCKETS);
        for (let k = offsets[i]; k < offsets[i + 1]; k++) row[buckets[k]] = weights[k];
        return row;
      });
      for (let i = 0; i < 12; i++) {
        for (let j = 0; j < i; j++) {
          // the error of a projection to 256 numbers has a deviation of 1/16
          expect(Math.abs(dot(rowOf(features, i), rowOf(features, j)) - dot(dense[i], dense[j]))).toBeLessThan(0.25);
        }
      }
    });

    it('are bit-equal for one seed, and others for another', async () => {
      const [once, again, other] = [
        await textFeatures(device, texts, 1),
        await textFeatures(device, texts, 1),
        await textFeatures(device, texts, 2),
      ];
      expect(again).toEqual(once);
      expect(other).not.toEqual(once);
    });

    it('weigh a word less the more texts have it', () => {
      const { offsets, weights } = termWeights(['a b', 'a c']);
      const first = [...weights.subarray(offsets[0], offsets[1])];
      const common = 1 / Math.sqrt(1 + 2 * (Math.log(3 / 2) + 1) ** 2);
      expect(Math.min(...first)).toBeCloseTo(common, 6);
    });
  });

  describe.each([
    ['nearestRows', device],
    ['nearestRows, chosen where they are multiplied', { ...device, id: 'webgpu' as const }],
  ])('%s', (_, device) => {
    it('are those of a plain search, whatever the blocks', async () => {
      const rows = unitRows(23, 8);
      const expected = Array.from({ length: 23 }, (_, i) =>
        Array.from({ length: 23 }, (_, j) => ({ j, product: dot(rowOf(rows, i), rowOf(rows, j)) }))
          .filter(({ j }) => j !== i)
          .sort((a, b) => b.product - a.product)
          .slice(0, 3),
      );
      for (const block of [23, 7]) {
        const nearest = await nearestRows(device, rows, null, 3, block);
        expect([...nearest.rows]).toEqual(expected.flatMap((best) => best.map(({ j }) => j)));
        expected.flat().forEach(({ product }, i) => expect(nearest.similarity[i]).toBeCloseTo(product, DIGITS));
      }
    }, 120_000);

    it('say where there are fewer than k', async () => {
      const { rows, similarity } = await nearestRows(device, unitRows(2, 4), null, 3);
      expect([...rows]).toEqual([1, -1, -1, 0, -1, -1]);
      expect([...similarity.subarray(1, 3)]).toEqual([NaN, NaN]);
    });

    it('are none that a product with NaN speaks for', async () => {
      const queries = { values: Float32Array.of(1, 0, NaN, 0, 0.6, 0.8), width: 2 };
      expect([...(await nearestRows(device, queries, null, 2)).rows]).toEqual([2, -1, -1, -1, 0, -1]);
    });

    it('are the first ones of those that are equal, whatever the blocks', async () => {
      const queries = { values: Float32Array.of(1, 0), width: 2 };
      const candidates = {
        values: Float32Array.from({ length: 24 }, (_, i) => (i % 2 ? 0 : i === 8 ? 0.5 : 1)),
        width: 2,
      };
      for (const block of [12, 5, 1]) {
        const { rows } = await nearestRows(device, queries, candidates, 5, block);
        expect([...rows]).toEqual([0, 1, 2, 3, 5]);
      }
    });

    it('are sought among other rows, where there are others', async () => {
      const [queries, candidates] = [
        { values: Float32Array.of(1, 0), width: 2 },
        { values: Float32Array.of(0, 1, 1, 0), width: 2 },
      ];
      expect(await nearestRows(device, queries, candidates, 1)).toEqual({
        rows: Int32Array.of(1),
        similarity: Float32Array.of(1),
      });
    });
  });

  it('normalEquations are sums of products', async () => {
    const rows = normalRows(50, 3);
    const targets = normalRows(50, 1, 'targets').values;
    const { gram, moment } = await normalEquations(device, rows, targets);
    const sum = (of: (row: number) => number) => targets.reduce((total, _, row) => total + of(row), 0);
    const x = (row: number, k: number) => rows.values[row * 3 + k];
    for (let a = 0; a < 3; a++) {
      expect(moment[a]).toBeCloseTo(
        sum((row) => x(row, a) * targets[row]),
        4,
      );
      for (let b = 0; b < 3; b++)
        expect(gram[a * 3 + b]).toBeCloseTo(
          sum((row) => x(row, a) * x(row, b)),
          4,
        );
    }
  });

  describe('trainNetwork', () => {
    const OPTIONS: TrainingOptions = {
      loss: 'squared',
      hidden: 0,
      epochs: 25,
      patience: 25,
      batchSize: 16,
      learningRate: 0.1,
      weightDecay: 0,
      seed: 3,
    };
    /** 48 sequences of 1 to 4 rows, each row worth 2 x₀ − x₁ + 0.5. */
    const inputs = () => {
      const offsets = Int32Array.from({ length: 49 }, (_, i) => i + Math.floor(i / 4) * 6 + [0, 0, 1, 3][i % 4]);
      const rows = normalRows(offsets[48], 2);
      const worth = Float32Array.from({ length: offsets[48] }, (_, t) => {
        const [a, b] = rowOf(rows, t);
        return 2 * a - b + 0.5;
      });
      return { ...rows, offsets, worth };
    };
    const [TRAINING, VALIDATION] = [
      Int32Array.from({ length: 36 }, (_, i) => i),
      Int32Array.from({ length: 12 }, (_, i) => 36 + i),
    ];
    const sums = ({ offsets, worth }: ReturnType<typeof inputs>) =>
      Float32Array.from({ length: 48 }, (_, i) =>
        worth.subarray(offsets[i], offsets[i + 1]).reduce((a, b) => a + b, 0),
      );
    const setFor = (loss: TrainingOptions['loss']): TrainingSet => {
      const { values, width, offsets, worth } = inputs();
      const targets =
        loss === 'squared' ? worth : loss === 'logistic' ? worth.map((y) => Number(y > 0)) : sums(inputs());
      return { values, width, offsets, targets };
    };

    it.each(['squared', 'sum', 'drawn'] as const)(
      'finds a linear worth by the loss %s',
      async (loss) => {
        const { network, validationLoss } = await trainNetwork(device, setFor(loss), TRAINING, VALIDATION, {
          ...OPTIONS,
          loss,
          drawn: 2,
        });
        // a worth has a variance of 5; what is drawn is noise to the others
        const off = loss === 'drawn' ? 1 : 0.05;
        [2, -1, 0.5].forEach((wanted, k) => expect(Math.abs(network.weights[k] - wanted)).toBeLessThan(off));
        expect(validationLoss).toBeLessThan(off);
        const outputs = await networkOutputs(device, network, setFor(loss));
        inputs().worth.forEach((worth, t) => expect(Math.abs(outputs[t] - worth)).toBeLessThan(4 * off));
      },
      300_000,
    );

    it('separates by the logistic loss, with a hidden layer', async () => {
      const set = setFor('logistic');
      const { network } = await trainNetwork(device, set, TRAINING, VALIDATION, {
        ...OPTIONS,
        loss: 'logistic',
        hidden: 4,
      });
      const outputs = await networkOutputs(device, network, set);
      const right = outputs.reduce((count, output, t) => count + Number(output > 0 === (set.targets[t] === 1)), 0);
      expect(right / outputs.length).toBeGreaterThan(0.95);
    }, 300_000);

    it.each(['squared', 'sum', 'logistic'] as const)('begins by saying the mean (%s)', async (loss) => {
      const set = setFor(loss);
      const { network, validationLoss } = await trainNetwork(device, set, TRAINING, VALIDATION, {
        ...OPTIONS,
        loss,
        hidden: 3,
        epochs: 0,
      });
      const outputs = await networkOutputs(device, network, set);
      const [target, perRow] = [loss === 'sum' ? 36 : set.offsets[36], set.offsets[36]];
      const mean = set.targets.subarray(0, target).reduce((a, b) => a + b, 0) / perRow;
      const said = loss === 'logistic' ? Math.log(mean / (1 - mean)) : mean;
      outputs.forEach((output) => expect(output).toBeCloseTo(said, DIGITS));
      expect(validationLoss).toBeGreaterThan(0);
    });

    it('gives the same weights for one seed, bit for bit, and others for another', async () => {
      const run = (seed: number) =>
        trainNetwork(device, setFor('sum'), TRAINING, VALIDATION, {
          ...OPTIONS,
          loss: 'sum',
          hidden: 2,
          epochs: 3,
          seed,
        });
      expect(await run(1)).toEqual(await run(1));
      expect((await run(2)).network).not.toEqual((await run(1)).network);
    }, 120_000);

    it('stops when it gets no better, and keeps the best', async () => {
      // noise: what is learned of it does harm
      const set = { ...setFor('squared'), targets: normalRows(inputs().offsets[48], 1, 'noise').values };
      const trained = await trainNetwork(device, set, TRAINING, VALIDATION, { ...OPTIONS, epochs: 40, patience: 2 });
      const untrained = await trainNetwork(device, set, TRAINING, VALIDATION, { ...OPTIONS, epochs: 0 });
      expect(trained.epochs).toBeLessThan(38);
      expect(trained.validationLoss).toBeLessThanOrEqual(untrained.validationLoss);
    }, 120_000);
  });
});
