import type { Rank, Tensor1D, Tensor2D } from '@tensorflow/tfjs-core';
import { seededRandom, type Random } from '#lib/numeric';
import type { Device } from './device.js';
import { fitWeights, SHARE, type FitOptions, type Fitted, type Model, type TrainingSet } from './fit-weights.js';
import { rowCountOf, rowsTensor, summedProducts, type Rows } from './rows.js';
import { takeValues } from './take-values.js';

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
export async function networkOutputs(device: Device, network: Network, rows: Rows): Promise<Float32Array> {
  const { tf } = device;
  await device.activate();
  const rowCount = rowCountOf(rows);
  const outputs = new Float32Array(rowCount);
  const weights = tf.tensor1d(network.weights);
  const blockRows = Math.max(1, Math.min(rowCount, Math.floor((device.maxElements * SHARE) / rows.width)));
  try {
    for (let from = 0; from < rowCount; from += blockRows) {
      const to = Math.min(from + blockRows, rowCount);
      const output = tf.tidy(() => {
        return forward(device, rowsTensor(device, rows, from, to), weights, network).output;
      });
      outputs.set(await takeValues(output), from);
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

/** What the last layer sees of each row (active), its weights as a column (last), and f [rows × 1]. */
function forward({ tf }: Device, inputs: Tensor2D, weights: Tensor1D, { width, hidden }: Omit<Network, 'weights'>) {
  const [layer, bias, row, lastBias] = tf.split(weights, [width * hidden, hidden, hidden || width, 1]);
  const last: Tensor2D = tf.reshape(row, [hidden || width, 1]);
  let active = inputs;
  if (hidden > 0) active = tf.tanh(tf.add(tf.matMul(inputs, tf.reshape<Rank.R2>(layer, [width, hidden])), bias));
  const output: Tensor2D = tf.add(tf.matMul(active, last), lastBias);
  return { output, active, last };
}

/** [weights] how the batch's loss moves with each weight. */
function gradientOf(device: Device, batch: Batch, weights: Tensor1D, { hidden, loss }: Shape): Tensor1D {
  const { tf } = device;
  const inputs = tf.tensor2d(batch.inputs, [batch.sequences * batch.length, batch.width]);
  const { output, active, last } = forward(device, inputs, weights, { width: batch.width, hidden });
  const byOutput = outputGradient(device, batch, output, loss);
  const flat = (rows: Tensor2D): Tensor1D => tf.reshape(rows, [-1]);
  const byLast = flat(summedProducts(device, active, byOutput));
  const byLastBias: Tensor1D = tf.reshape(tf.sum(byOutput), [1]);
  if (hidden === 0) return tf.concat1d([byLast, byLastBias]);
  const through = tf.mul(byOutput, tf.reshape(last, [1, hidden]));
  const byActive: Tensor2D = tf.mul(through, tf.sub(1, tf.square(active)));
  const byBias: Tensor1D = tf.sum(byActive, 0);
  return tf.concat1d([flat(summedProducts(device, inputs, byActive)), byBias, byLast, byLastBias]);
}

/** [sequences · length × 1] how the loss moves with each output. */
function outputGradient({ tf }: Device, batch: Batch, output: Tensor2D, loss: Loss): Tensor2D {
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
  const values = await takeValues(output);
  return { total: batchLoss(batch, values, loss), count: isSum(loss) ? batch.sequences : batch.rows };
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
