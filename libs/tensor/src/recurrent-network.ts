import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs-core';
import { seededRandom } from '#lib/numeric';
import type { Device } from './device.js';
import {
  batchesOf,
  fitWeights,
  SHARE,
  type FitOptions,
  type Fitted,
  type Model,
  type TrainingSet,
} from './fit-weights.js';
import { summedProducts } from './rows.js';
import { takeValues } from './take-values.js';

/**
 * RUDDER's network, an LSTM without forget and output gates, which so can only add to what it keeps. Its input gate sees what
 * is kept, and nothing else:
 *
 *     h[t] = h[t−1] + σ(h[t−1] R + b₁) ⊙ tanh(x[t] W + b₀)      h[−1] = 0
 *     p[t] = h[t] · w + b                                       p[−1] = b, said before anything is seen
 */
export interface RecurrentNetwork {
  readonly width: number;
  /** numbers that are kept (h) */
  readonly units: number;
  /** W [width × units], b₀ [units], R [units × units], b₁ [units], w [units], b */
  readonly weights: Float32Array;
}

export interface RecurrentOptions extends FitOptions {
  readonly units: number;
  /** how much the error at every row counts beside that at the last one */
  readonly auxiliary: number;
}

export interface TrainedRecurrent extends Omit<Fitted, 'weights'> {
  readonly network: RecurrentNetwork;
}

/**
 * Fits a recurrent network to tell, at every row of a sequence, the target of the sequence (see fitWeights):
 *
 *     mean_i ((p[i,T−1] − y[i])² + auxiliary · mean_t (p[i,t] − y[i])²)
 *
 * The validation loss is that of the last row alone.
 *
 * @param set a target per sequence @param training, validation sequences of the set, none of them without rows
 */
export async function trainRecurrent(
  device: Device,
  set: TrainingSet,
  training: Int32Array,
  validation: Int32Array,
  options: RecurrentOptions,
): Promise<TrainedRecurrent> {
  await device.activate();
  const model = recurrentModel(device, set, training, options);
  const { weights, ...fitted } = await fitWeights(device, set, training, validation, model, options);
  return { network: { width: set.width, units: options.units, weights }, ...fitted };
}

/** The network as what fitWeights fits. @param training sequences of the set, of whose targets the first weights say the mean */
export function recurrentModel(
  device: Device,
  set: TrainingSet,
  training: Int32Array,
  { units, auxiliary, seed }: Pick<RecurrentOptions, 'units' | 'auxiliary' | 'seed'>,
): Model {
  return {
    initial: initialWeights(set, training, units, seed),
    decayed: decayMask(set.width, units),
    gradient: (chosen, weights) => gradientOf(device, batchFor(set, chosen), weights, units, auxiliary),
    loss: async (chosen, weights) => {
      const batch = batchFor(set, chosen);
      const said = await outputsOf(device, batch, weights, units);
      const total = batch.turns.reduce((sum, turns, i) => sum + (said(i, turns - 1) - batch.targets[i]) ** 2, 0);
      return { total, count: batch.sequences };
    },
  };
}

/** p of the rows of chosen sequences, one sequence after the other. @returns [rows] */
export async function recurrentOutputs(
  device: Device,
  { units, weights: kept }: RecurrentNetwork,
  set: Pick<TrainingSet, 'values' | 'width' | 'offsets'>,
  sequences: Int32Array,
  batchSize = 256,
): Promise<Float32Array> {
  await device.activate();
  const outputs: number[] = [];
  const weights = device.tf.tensor1d(kept);
  try {
    for (const chosen of batchesOf(set, sequences, batchSize, device.maxElements * SHARE)) {
      const batch = batchFor({ ...set, targets: new Float32Array(set.offsets.length - 1) }, chosen);
      const said = await outputsOf(device, batch, weights, units);
      batch.turns.forEach((turns, i) => {
        for (let t = 0; t < turns; t++) outputs.push(said(i, t));
      });
    }
  } finally {
    weights.dispose();
  }
  return Float32Array.from(outputs);
}

/** Chosen sequences side by side, place after place: row t · sequences + i is row t of sequence i, or 0 behind its end. */
interface Batch {
  readonly sequences: number;
  readonly length: number;
  readonly width: number;
  /** [length × sequences × width] */
  readonly inputs: Float32Array;
  /** [sequences] */
  readonly turns: Int32Array;
  /** [sequences] */
  readonly targets: Float32Array;
}

function batchFor({ values, width, offsets, targets }: TrainingSet, chosen: Int32Array): Batch {
  const sequences = chosen.length;
  const turns = chosen.map((i) => offsets[i + 1] - offsets[i]);
  const length = Math.max(1, ...turns);
  const inputs = new Float32Array(length * sequences * width);
  chosen.forEach((sequence, i) => {
    for (let t = 0; t < turns[i]; t++) {
      const row = offsets[sequence] + t;
      inputs.set(values.subarray(row * width, (row + 1) * width), (t * sequences + i) * width);
    }
  });
  return { sequences, length, width, inputs, turns, targets: Float32Array.from(chosen, (i) => targets[i]) };
}

/** The one row of weights, cut. */
function partsOf({ tf }: Device, weights: Tensor1D, width: number, units: number) {
  const ends = [width * units, units, units * units, units, units, 1];
  const [w0, b0, r, b1, w, b] = tf.split(weights, ends);
  return {
    input: tf.reshape(w0, [width, units]),
    inputBias: b0,
    recurrent: tf.reshape(r, [units, units]),
    gateBias: b1,
    last: tf.reshape(w, [units, 1]),
    lastBias: b,
  };
}

/** Everything on the way to p; each [length · sequences × units], output [length · sequences × 1]. */
function forward(device: Device, batch: Batch, weights: Tensor1D, units: number) {
  const { tf } = device;
  const { sequences, length, width } = batch;
  const parts = partsOf(device, weights, width, units);
  const inputs = tf.tensor2d(batch.inputs, [length * sequences, width]);
  const candidate: Tensor2D = tf.tanh(tf.add(tf.matMul(inputs, parts.input), parts.inputBias));
  const gates: Tensor2D[] = [];
  const kept: Tensor2D[] = [tf.zeros([sequences, units])];
  for (let t = 0; t < length; t++) {
    const gate: Tensor2D = tf.sigmoid(tf.add(tf.matMul(kept[t], parts.recurrent), parts.gateBias));
    gates.push(gate);
    kept.push(tf.add(kept[t], tf.mul(gate, placeOf(device, candidate, t, sequences))));
  }
  const after = tf.concat2d(kept.slice(1), 0);
  const output: Tensor2D = tf.add(tf.matMul(after, parts.last), parts.lastBias);
  return {
    parts,
    inputs,
    candidate,
    gate: tf.concat2d(gates, 0),
    before: tf.concat2d(kept.slice(0, -1), 0),
    after,
    output,
  };
}

/** The rows of one place: [sequences × units] of [length · sequences × units]. */
const placeOf = ({ tf }: Device, rows: Tensor2D, t: number, sequences: number): Tensor2D =>
  tf.slice2d(rows, [t * sequences, 0], [sequences, rows.shape[1]]);

/** p of row t of sequence i. */
async function outputsOf(device: Device, batch: Batch, weights: Tensor1D, units: number) {
  const output = device.tf.tidy(() => forward(device, batch, weights, units).output);
  const values = await takeValues(output);
  return (i: number, t: number) => values[t * batch.sequences + i];
}

/**
 * [weights] how the batch's loss moves with each weight, back through time. With g = σ′ and a = tanh′ of their places,
 *
 *     ∂h[t−1] = ∂p[t−1] w + ∂h[t] + (∂h[t] ⊙ z[t] ⊙ g[t]) Rᵀ      z = tanh(x W + b₀)
 */
function gradientOf(device: Device, batch: Batch, weights: Tensor1D, units: number, auxiliary: number): Tensor1D {
  const { tf } = device;
  const { sequences, length } = batch;
  const { parts, inputs, candidate, gate, before, after, output } = forward(device, batch, weights, units);
  const { targets, counts } = errorsOf(batch, auxiliary);
  const rows = length * sequences;
  const byOutput: Tensor2D = tf.mul(tf.sub(output, tf.tensor2d(targets, [rows, 1])), tf.tensor2d(counts, [rows, 1]));
  const direct: Tensor2D = tf.mul(byOutput, tf.reshape(parts.last, [1, units]));
  const gateSlope: Tensor2D = tf.mul(candidate, tf.mul(gate, tf.sub(1, gate)));
  const recurrent = tf.transpose(parts.recurrent);
  const byKept: Tensor2D[] = [];
  let later: Tensor2D = tf.zeros([sequences, units]);
  for (let t = length - 1; t >= 0; t--) {
    const now: Tensor2D = tf.add(placeOf(device, direct, t, sequences), later);
    byKept.push(now);
    const byGate = tf.mul(now, placeOf(device, gateSlope, t, sequences));
    later = tf.add(now, tf.matMul(byGate, recurrent));
  }
  const byAfter = tf.concat2d(byKept.reverse(), 0);
  const byGates: Tensor2D = tf.mul(byAfter, gateSlope);
  const byCandidate: Tensor2D = tf.mul(tf.mul(byAfter, gate), tf.sub(1, tf.square(candidate)));
  const flat = (rows: Tensor2D): Tensor1D => tf.reshape(rows, [-1]);
  return tf.concat1d([
    flat(summedProducts(device, inputs, byCandidate)),
    tf.sum(byCandidate, 0),
    flat(summedProducts(device, before, byGates)),
    tf.sum(byGates, 0),
    flat(summedProducts(device, after, byOutput)),
    tf.reshape(tf.sum(byOutput), [1]),
  ]);
}

/** Per place the target of its sequence, and twice how much its squared error counts in the loss. @returns [length × sequences] */
function errorsOf({ sequences, length, turns, targets }: Batch, auxiliary: number) {
  const counts = new Float32Array(length * sequences);
  const wanted = new Float32Array(length * sequences);
  for (let i = 0; i < sequences; i++) {
    for (let t = 0; t < turns[i]; t++) {
      const share = auxiliary / turns[i] + (t === turns[i] - 1 ? 1 : 0);
      counts[t * sequences + i] = (2 * share) / sequences;
      wanted[t * sequences + i] = targets[i];
    }
  }
  return { targets: wanted, counts };
}

/** Small random weights, and a last bias with which the network says the mean target. */
function initialWeights(
  { width, targets }: TrainingSet,
  training: Int32Array,
  units: number,
  seed: string | number,
): Float32Array {
  const random = seededRandom(`weights ${seed}`);
  const weights = new Float32Array(weightCount(width, units));
  const recurrent = width * units + units;
  const last = recurrent + units * units + units;
  for (let i = 0; i < width * units; i++) weights[i] = random.normal() / Math.sqrt(width);
  for (let i = 0; i < units * units; i++) weights[recurrent + i] = random.normal() / Math.sqrt(units);
  for (let i = 0; i < units; i++) weights[last + i] = (0.1 * random.normal()) / Math.sqrt(units);
  weights[weights.length - 1] = training.reduce((sum, i) => sum + targets[i], 0) / training.length;
  return weights;
}

/** 1 on weights, 0 on biases. */
function decayMask(width: number, units: number): Float32Array {
  const mask = new Float32Array(weightCount(width, units)).fill(1);
  const recurrent = width * units + units;
  mask.fill(0, width * units, recurrent);
  mask.fill(0, recurrent + units * units, recurrent + units * units + units);
  mask[mask.length - 1] = 0;
  return mask;
}

const weightCount = (width: number, units: number) => (width + units + 3) * units + 1;
