import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs-core';
import { seededRandom, type Random } from '#lib/numeric';
import type { Device } from './device.js';
import { fitWeights, SHARE, type FitOptions, type Fitted, type Model, type TrainingSet } from './fit-weights.js';
import type { Rows } from './rows.js';

/** One hidden layer, or none: f(x) = w₂ · tanh(W₁ x + b₁) + b₂, or w₂ · x + b₂. */
export interface Network {
  readonly width: number;
  /** units of the hidden layer; 0: none */
  readonly hidden: number;
  /** W₁ [width × hidden], b₁ [hidden], w₂ [hidden or width], b₂ */
  readonly weights: Float32Array;
}

/**
 * What is made small, over the sequences of a batch:
 *
 *     sum       mean_i (Σ_t f(x[i,t]) − y[i])²         contributions that add up to the target of their sequence
 *     drawn     mean_i (T/K · Σ_{t drawn} f(x[i,t]) − y[i])²      as sum, on K rows drawn anew each time
 *     squared   mean over the rows of (f(x) − y)²
 *     logistic  mean over the rows of −y ln σ(f) − (1 − y) ln(1 − σ(f))
 */
export type Loss = 'sum' | 'drawn' | 'squared' | 'logistic';

export interface TrainingOptions extends FitOptions {
  readonly loss: Loss;
  readonly hidden: number;
  /** rows drawn of a sequence, for the loss `drawn` */
  readonly drawn?: number;
}

export interface Trained extends Omit<Fitted, 'weights'> {
  readonly network: Network;
}

/**
 * Fits a network to the training sequences (see fitWeights). The targets are a number per sequence for the losses `sum` and
 * `drawn`, per row for the others.
 *
 * @param training, validation sequences of the set
 */
export async function trainNetwork(
  device: Device,
  set: TrainingSet,
  training: Int32Array,
  validation: Int32Array,
  options: TrainingOptions,
): Promise<Trained> {
  await device.activate();
  const model = networkModel(device, set, training, options);
  const { weights, ...fitted } = await fitWeights(device, set, training, validation, model, options);
  return { network: { width: set.width, hidden: options.hidden, weights }, ...fitted };
}

/** The network as what fitWeights fits. @param training sequences of the set, of whose targets the first weights say the mean */
export function networkModel(
  device: Device,
  set: TrainingSet,
  training: Int32Array,
  options: Pick<TrainingOptions, 'loss' | 'hidden' | 'drawn' | 'seed'>,
): Model {
  return {
    initial: initialWeights(set, training, options),
    decayed: decayMask(set.width, options.hidden),
    gradient: (chosen, weights, random) => gradientOf(device, batchFor(set, chosen, options, random), weights, options),
    loss: (chosen, weights) => lossOf(device, batchFor(set, chosen, options, null), weights, options),
  };
}

/** f of every row. @returns [rows] */
export async function networkOutputs(device: Device, network: Network, { values, width }: Rows): Promise<Float32Array> {
  const { tf } = device;
  await device.activate();
  const rowCount = values.length / width;
  const outputs = new Float32Array(rowCount);
  const weights = tf.tensor1d(network.weights);
  const blockRows = Math.max(1, Math.min(rowCount, Math.floor((device.maxElements * SHARE) / width)));
  try {
    for (let from = 0; from < rowCount; from += blockRows) {
      const to = Math.min(from + blockRows, rowCount);
      const output = tf.tidy(() => {
        const inputs = tf.tensor2d(values.subarray(from * width, to * width), [to - from, width]);
        return forward(device, inputs, weights, network).output;
      });
      outputs.set(await output.data(), from);
      output.dispose();
    }
  } finally {
    weights.dispose();
  }
  return outputs;
}

/** Rows of chosen sequences, as many places a sequence as the longest has rows. */
interface Batch {
  readonly sequences: number;
  readonly length: number;
  readonly width: number;
  /** [sequences × length × width] */
  readonly inputs: Float32Array;
  /** [sequences × length] how much a place counts in the sum of its sequence; 0: no row */
  readonly counts: Float32Array;
  /** [sequences × length] or, for sums, [sequences] */
  readonly targets: Float32Array;
  readonly rows: number;
}

type Shape = Pick<TrainingOptions, 'hidden' | 'loss'>;

const isSum = (loss: Loss) => loss === 'sum' || loss === 'drawn';

function batchFor(
  set: TrainingSet,
  chosen: Int32Array,
  { loss, drawn = Infinity }: Pick<TrainingOptions, 'loss' | 'drawn'>,
  random: Random | null,
): Batch {
  const { values, width, offsets, targets } = set;
  const rowsOf = Array.from(chosen, (i) => {
    const all = Array.from({ length: offsets[i + 1] - offsets[i] }, (_, t) => offsets[i] + t);
    return loss === 'drawn' && random ? drawFrom(all, drawn, random) : all;
  });
  const length = Math.max(1, ...rowsOf.map((rows) => rows.length));
  const inputs = new Float32Array(chosen.length * length * width);
  const counts = new Float32Array(chosen.length * length);
  const wanted = new Float32Array(isSum(loss) ? chosen.length : counts.length);
  let rowCount = 0;
  rowsOf.forEach((rows, i) => {
    const turns = offsets[chosen[i] + 1] - offsets[chosen[i]];
    if (isSum(loss)) wanted[i] = targets[chosen[i]];
    rows.forEach((row, k) => {
      const place = i * length + k;
      inputs.set(values.subarray(row * width, (row + 1) * width), place * width);
      counts[place] = isSum(loss) ? turns / rows.length : 1;
      if (!isSum(loss)) wanted[place] = targets[row];
      rowCount++;
    });
  });
  return { sequences: chosen.length, length, width, inputs, counts, targets: wanted, rows: rowCount };
}

/** Some of the rows, each at most once, in their order. */
function drawFrom(rows: readonly number[], count: number, random: Random): number[] {
  if (rows.length <= count) return [...rows];
  const pool = [...rows];
  for (let i = 0; i < count; i++) {
    const j = i + random.integer(pool.length - i);
    [pool[i], pool[j]] = [pool[j], pool[i]];
  }
  return pool.slice(0, count).sort((a, b) => a - b);
}

function forward({ tf }: Device, inputs: Tensor2D, weights: Tensor1D, { width, hidden }: Omit<Network, 'weights'>) {
  if (hidden === 0) {
    const last = tf.reshape(tf.slice(weights, 0, width), [width, 1]);
    return { output: tf.add(tf.matMul(inputs, last), tf.slice(weights, width, 1)), active: inputs, last };
  }
  const layer = tf.reshape(tf.slice(weights, 0, width * hidden), [width, hidden]);
  const bias = tf.slice(weights, width * hidden, hidden);
  const last = tf.reshape(tf.slice(weights, width * hidden + hidden, hidden), [hidden, 1]);
  const active = tf.tanh(tf.add(tf.matMul(inputs, layer), bias));
  const output = tf.add(tf.matMul(active, last), tf.slice(weights, width * hidden + 2 * hidden, 1));
  return { output, active, last };
}

/** [weights] how the batch's loss moves with each weight. */
function gradientOf(device: Device, batch: Batch, weights: Tensor1D, { hidden, loss }: Shape): Tensor1D {
  const { tf } = device;
  const inputs = tf.tensor2d(batch.inputs, [batch.sequences * batch.length, batch.width]);
  const { output, active, last } = forward(device, inputs, weights, { width: batch.width, hidden });
  const byOutput = outputGradient(device, batch, output as Tensor2D, loss);
  const byLast = tf.reshape(tf.matMul(active, byOutput, true), [-1]);
  const byLastBias = tf.reshape(tf.sum(byOutput), [1]);
  if (hidden === 0) return tf.concat1d([byLast as Tensor1D, byLastBias as Tensor1D]);
  const byActive = tf.mul(tf.matMul(byOutput, last, false, true), tf.sub(1, tf.square(active)));
  const byLayer = tf.reshape(tf.matMul(inputs, byActive, true), [-1]);
  return tf.concat1d([byLayer, tf.sum(byActive, 0), byLast, byLastBias] as Tensor1D[]);
}

/** [sequences · length × 1] how the loss moves with each output. */
function outputGradient({ tf }: Device, batch: Batch, output: Tensor2D, loss: Loss) {
  const { sequences, length, rows } = batch;
  const counts = tf.tensor2d(batch.counts, [sequences, length]);
  const placed = tf.reshape(output, [sequences, length]);
  let gradient;
  if (isSum(loss)) {
    const error = tf.sub(tf.sum(tf.mul(placed, counts), 1, true), tf.tensor2d(batch.targets, [sequences, 1]));
    gradient = tf.mul(tf.mul(error, counts), 2 / sequences);
  } else {
    const targets = tf.tensor2d(batch.targets, [sequences, length]);
    const error = tf.sub(loss === 'logistic' ? tf.sigmoid(placed) : placed, targets);
    gradient = tf.mul(tf.mul(error, counts), (loss === 'logistic' ? 1 : 2) / rows);
  }
  return tf.reshape(gradient, [sequences * length, 1]);
}

/** The loss over whole sequences: `drawn` draws nothing here, and is `sum`. */
async function lossOf(device: Device, batch: Batch, weights: Tensor1D, { hidden, loss }: Shape) {
  const { tf } = device;
  const output = tf.tidy(() => {
    const inputs = tf.tensor2d(batch.inputs, [batch.sequences * batch.length, batch.width]);
    return forward(device, inputs, weights, { width: batch.width, hidden }).output;
  });
  const values = await output.data();
  output.dispose();
  return { total: batchLoss(batch, values as Float32Array, loss), count: isSum(loss) ? batch.sequences : batch.rows };
}

function batchLoss({ sequences, length, counts, targets }: Batch, outputs: Float32Array, loss: Loss): number {
  let total = 0;
  for (let i = 0; i < sequences; i++) {
    let sum = 0;
    for (let k = i * length; k < (i + 1) * length; k++) {
      if (counts[k] === 0) continue;
      sum += counts[k] * outputs[k];
      if (loss === 'squared') total += (outputs[k] - targets[k]) ** 2;
      if (loss === 'logistic') total += logisticLoss(outputs[k], targets[k]);
    }
    if (isSum(loss)) total += (sum - targets[i]) ** 2;
  }
  return total;
}

/** −y ln σ(f) − (1 − y) ln(1 − σ(f)), without overflow. */
export function logisticLoss(output: number, target: number): number {
  return Math.max(output, 0) - output * target + Math.log1p(Math.exp(-Math.abs(output)));
}

/** A random hidden layer, and a last one of nothing but its bias: the network begins by saying the mean of what it learns. */
function initialWeights(
  set: TrainingSet,
  training: Int32Array,
  { hidden, loss, seed }: Shape & Pick<TrainingOptions, 'seed'>,
): Float32Array {
  const { width } = set;
  const random = seededRandom(`weights ${seed}`);
  const layer = width * hidden;
  const last = hidden || width;
  const weights = new Float32Array(layer + hidden + last + 1);
  for (let i = 0; i < layer; i++) weights[i] = random.normal() / Math.sqrt(width);
  const mean = meanTarget(set, training, loss);
  const clamped = Math.min(Math.max(mean, 1e-3), 1 - 1e-3);
  weights[weights.length - 1] = loss === 'logistic' ? Math.log(clamped / (1 - clamped)) : mean;
  return weights;
}

/** Per row: for sums, what each row would have to say. */
function meanTarget({ offsets, targets }: TrainingSet, training: Int32Array, loss: Loss): number {
  let sum = 0;
  let rows = 0;
  for (const i of training) {
    rows += offsets[i + 1] - offsets[i];
    if (isSum(loss)) sum += targets[i];
    else for (let row = offsets[i]; row < offsets[i + 1]; row++) sum += targets[row];
  }
  return rows > 0 ? sum / rows : 0;
}

/** 1 on weights, 0 on biases. */
function decayMask(width: number, hidden: number): Float32Array {
  const layer = width * hidden;
  const mask = new Float32Array(layer + hidden + (hidden || width) + 1).fill(1);
  mask.fill(0, layer, layer + hidden);
  mask[mask.length - 1] = 0;
  return mask;
}
