import { seededRandom } from '#lib/numeric';
import { describe, expect, it, vi } from 'vitest';
import {
  nearestRows,
  networkOutputs,
  normalEquations,
  recurrentOutputs,
  textFeatures,
  trainNetwork,
  trainRecurrent,
} from './index.js';
import type { RecurrentNetwork, RecurrentOptions, TrainingSet } from './index.js';
import type { Model } from './fit-weights.js';
import { logisticLoss, networkModel, type Loss } from './network.js';
import { recurrentModel } from './recurrent-network.js';
import { TESTED, testedDevice } from '../../../test/support/tested-device.js';

const WIDTH = 3;

const device = await testedDevice();

/** Sequences of 1 to 5 rows, whose rows are worth x₀: the target is the sum, of a sequence or, per row, the row's own. */
function setOf(count: number, perRow = false): TrainingSet {
  const random = seededRandom('sequences');
  const offsets = Int32Array.from({ length: count + 1 }, (_, i) => 3 * i + [0, -2, 0, 0, 1][i % 5]);
  const values = Float32Array.from({ length: offsets[count] * WIDTH }, () => random.normal());
  const worth = Float32Array.from({ length: offsets[count] }, (_, t) => values[t * WIDTH]);
  const sums = Float32Array.from({ length: count }, (_, i) =>
    worth.subarray(offsets[i], offsets[i + 1]).reduce((a, b) => a + b, 0),
  );
  return { values, width: WIDTH, offsets, targets: perRow ? worth : sums };
}

const first = (count: number) => Int32Array.from({ length: count }, (_, i) => i);
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const at = (length: number, of: (k: number) => number) => Array.from({ length }, (_, k) => of(k));
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

/** f of row t in float64, read off the formula. */
function plainOutput(weights: ArrayLike<number>, hidden: number, { values }: TrainingSet, t: number): number {
  const x = (k: number) => values[t * WIDTH + k];
  if (hidden === 0) return sum(at(WIDTH, (k) => x(k) * weights[k])) + weights[WIDTH];
  const bias = WIDTH * hidden;
  const unit = (u: number) => Math.tanh(sum(at(WIDTH, (k) => x(k) * weights[k * hidden + u])) + weights[bias + u]);
  return sum(at(hidden, (u) => unit(u) * weights[bias + hidden + u])) + weights[bias + 2 * hidden];
}

/** p of every row of sequence i in float64, read off the formula; before it what is said before anything is seen. */
function plainRecurrent(
  { weights: w, units }: Pick<RecurrentNetwork, 'units'> & { weights: ArrayLike<number> },
  set: TrainingSet,
  i: number,
) {
  const [b0, r] = [WIDTH * units, WIDTH * units + units];
  const [b1, last] = [r + units * units, r + units * units + units];
  let kept = at(units, () => 0);
  const said = [w[last + units]];
  for (let t = set.offsets[i]; t < set.offsets[i + 1]; t++) {
    const before = kept;
    kept = at(units, (u) => {
      const gate = sigmoid(sum(at(units, (v) => before[v] * w[r + v * units + u])) + w[b1 + u]);
      const seen = Math.tanh(sum(at(WIDTH, (k) => set.values[t * WIDTH + k] * w[k * units + u])) + w[b0 + u]);
      return before[u] + gate * seen;
    });
    said.push(sum(at(units, (u) => kept[u] * w[last + u])) + w[last + units]);
  }
  return said;
}

/** Holds the gradient of a model, at weights of about 1, against differences of a loss in float64. */
async function expectGradient(model: Model, sequences: Int32Array, lossWith: (weights: Float64Array) => number) {
  const random = seededRandom('weights of a test');
  const weights = Float64Array.from(model.initial, () => Math.fround(0.7 * random.normal()));
  const { tf } = device;
  const gradient = tf.tidy(() => model.gradient(sequences, tf.tensor1d(Float32Array.from(weights)), random));
  const found = await gradient.data();
  gradient.dispose();
  const slopes = weights.map((_, k) => {
    const nudged = (by: number) => lossWith(weights.map((each, j) => (j === k ? each + by : each)));
    return (nudged(1e-4) - nudged(-1e-4)) / 2e-4;
  });
  const size = Math.max(...slopes.map(Math.abs));
  slopes.forEach((slope, k) => expect(Math.abs(found[k] - slope), `weight ${k}`).toBeLessThan(2e-5 * size));
  expect(slopes.filter((slope) => Math.abs(slope) > 1e-3 * size).length).toBeGreaterThan(weights.length / 2);
}

describe(`on ${TESTED}`, () => {
  it.each((['squared', 'sum', 'logistic'] as const).flatMap((loss) => [0, 4].map((hidden) => [loss, hidden] as const)))(
    'the gradient of the loss %s, with %i units, is what small steps show',
    async (loss: Loss, hidden) => {
      const set = setOf(9, loss !== 'sum');
      const targets = loss === 'logistic' ? set.targets.map((y) => Number(y > 0)) : set.targets;
      const given = { ...set, targets };
      const chosen = Int32Array.of(1, 4, 5, 8);
      await expectGradient(networkModel(device, given, chosen, { loss, hidden, seed: 1 }), chosen, (weights) => {
        const f = (t: number) => plainOutput(weights, hidden, given, t);
        const rowsOf = (i: number) => at(set.offsets[i + 1] - set.offsets[i], (t) => set.offsets[i] + t);
        const rows = [...chosen].flatMap(rowsOf);
        if (loss === 'squared') return sum(rows.map((t) => (f(t) - targets[t]) ** 2)) / rows.length;
        if (loss === 'logistic') return sum(rows.map((t) => logisticLoss(f(t), targets[t]))) / rows.length;
        return sum([...chosen].map((i) => (sum(rowsOf(i).map(f)) - targets[i]) ** 2)) / chosen.length;
      });
    },
    120_000,
  );

  it('no tensor is left behind where numbers cannot be read', async () => {
    const set = setOf(60);
    const [training, validation] = [first(60).subarray(0, 45), first(60).subarray(45)];
    const options = { epochs: 1, patience: 1, batchSize: 16, learningRate: 0.1, weightDecay: 0, seed: 1 };
    const works = [
      () => trainNetwork(device, set, training, validation, { ...options, loss: 'sum', hidden: 2 }),
      () => networkOutputs(device, { width: WIDTH, hidden: 0, weights: new Float32Array(WIDTH + 1) }, set),
      () => trainRecurrent(device, set, training, validation, { ...options, units: 2, auxiliary: 0.5 }),
      () => normalEquations(device, set, new Float32Array(set.values.length / WIDTH)),
      () => nearestRows(device, set, null, 2),
      () => textFeatures(device, ['the red door'], 1),
    ];
    const before = device.tf.memory().numTensors;
    const data = vi.spyOn(device.tf.Tensor.prototype, 'data').mockRejectedValue(new Error('device lost'));
    try {
      for (const work of works) await expect(work()).rejects.toThrow('device lost');
    } finally {
      data.mockRestore();
    }
    expect(device.tf.memory().numTensors).toBe(before);
  });

  describe('trainRecurrent', () => {
    const OPTIONS: RecurrentOptions = {
      units: 3,
      auxiliary: 0.5,
      epochs: 20,
      patience: 20,
      batchSize: 16,
      learningRate: 0.1,
      weightDecay: 0,
      seed: 1,
    };
    const ALL = first(60);
    const [TRAINING, VALIDATION] = [ALL.subarray(0, 45), ALL.subarray(45)];

    it('says at every row what the formula says, whatever the batches', async () => {
      const set = setOf(9);
      const random = seededRandom('recurrent');
      const weights = Float32Array.from({ length: (WIDTH + 4 + 3) * 4 + 1 }, () => random.normal());
      const chosen = Int32Array.of(0, 2, 3, 8);
      const expected = [...chosen].flatMap((i) => plainRecurrent({ weights, units: 4 }, set, i).slice(1));
      for (const batchSize of [4, 1]) {
        const said = await recurrentOutputs(device, { width: WIDTH, units: 4, weights }, set, chosen, batchSize);
        expect(said).toHaveLength(expected.length);
        expected.forEach((p, k) => expect(said[k]).toBeCloseTo(p, 4));
      }
    }, 120_000);

    it('has the gradient that small steps show, back through time', async () => {
      const set = setOf(9);
      const chosen = Int32Array.of(1, 4, 5, 8);
      await expectGradient(recurrentModel(device, set, chosen, { ...OPTIONS, units: 4 }), chosen, (weights) => {
        const lossOf = (i: number) => {
          const errors = plainRecurrent({ weights, units: 4 }, set, i)
            .slice(1)
            .map((p) => (p - set.targets[i]) ** 2);
          return errors.at(-1)! + (0.5 * sum(errors)) / errors.length;
        };
        return sum([...chosen].map(lossOf)) / chosen.length;
      });
    }, 120_000);

    it('starts from the mean, learns a sum over time, and judges itself by the last row', async () => {
      const set = setOf(60);
      const { network, validationLoss } = await trainRecurrent(device, set, TRAINING, VALIDATION, OPTIONS);
      const errors = [...VALIDATION].map((i) => plainRecurrent(network, set, i).at(-1)! - set.targets[i]);
      expect(sum(errors.map((error) => error ** 2)) / errors.length).toBeCloseTo(validationLoss, 3);
      const start = await trainRecurrent(device, set, TRAINING, VALIDATION, { ...OPTIONS, epochs: 0 });
      expect(validationLoss).toBeLessThan(0.3 * start.validationLoss);
      const mean = sum([...TRAINING].map((i) => set.targets[i])) / TRAINING.length;
      expect(start.network.weights.at(-1)).toBeCloseTo(mean, 5);
    }, 300_000);

    it('gives the same weights for one seed, bit for bit, and others for another', async () => {
      const run = (seed: number) =>
        trainRecurrent(device, setOf(60), TRAINING, VALIDATION, { ...OPTIONS, epochs: 1, seed });
      expect(await run(1)).toEqual(await run(1));
      expect((await run(2)).network).not.toEqual((await run(1)).network);
    }, 120_000);

    it('stops when it gets no better, and keeps the best', async () => {
      const random = seededRandom('noise');
      const noise = { ...setOf(60), targets: Float32Array.from({ length: 60 }, () => random.normal()) };
      const { epochs, validationLoss } = await trainRecurrent(device, noise, TRAINING, VALIDATION, {
        ...OPTIONS,
        patience: 2,
      });
      expect(epochs).toBeLessThan(18);
      const untrained = await trainRecurrent(device, noise, TRAINING, VALIDATION, { ...OPTIONS, epochs: 0 });
      expect(validationLoss).toBeLessThanOrEqual(untrained.validationLoss);
    }, 120_000);
  });
});
