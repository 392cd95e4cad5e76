import type { Rank, Tensor1D } from '@tensorflow/tfjs-core';
import { seededRandom, type Random } from '#lib/numeric';
import type { Device } from './device.js';
import type { Rows } from './rows.js';

/** What is learned from: rows in sequences, as turns are in trajectories. */
export interface TrainingSet extends Rows {
  /** [sequences + 1] into the rows */
  readonly offsets: Int32Array;
  /** what is learned: a number per sequence or per row, as the loss says */
  readonly targets: Float32Array;
}

export interface FitOptions {
  /** passes over the training sequences, at most */
  readonly epochs: number;
  /** passes without a better validation loss before it stops */
  readonly patience: number;
  /** sequences of a step */
  readonly batchSize: number;
  readonly learningRate: number;
  /** share of each weight (biases left alone) that a step takes away, times the learning rate */
  readonly weightDecay: number;
  readonly seed: string | number;
}

/** A model of one flat row of weights. */
export interface Model {
  readonly initial: Float32Array;
  /** [weights] 1 where weights decay: not on biases */
  readonly decayed: Float32Array;
  /** [weights] how the loss of some sequences moves with each weight; called inside a tidy */
  gradient(sequences: Int32Array, weights: Tensor1D, random: Random): Tensor1D;
  /** the loss summed over the sequences, and what to divide it by */
  loss(sequences: Int32Array, weights: Tensor1D): Promise<{ readonly total: number; readonly count: number }>;
}

export interface Fitted {
  readonly weights: Float32Array;
  /** passes until the best one */
  readonly epochs: number;
  readonly validationLoss: number;
}

const BETA1 = 0.9;
const BETA2 = 0.999;
/** A gradient below this share of the largest one may be rounding, of which Adam would make a whole step. */
const ROUNDING = 1e-5;
/** Where every gradient is 0, no step is divided by 0. */
const TINY = 1e-20;
/** Inputs of a batch may take this share of the largest tensor. */
export const SHARE = 1 / 8;
/** A validation looks at so many batches at once: it keeps nothing of the way. */
const VALIDATION_BATCHES = 8;

/**
 * Fits weights to the training sequences by Adam, and keeps those that did best on the validation sequences. The same seed
 * gives the same weights on the same device, bit for bit.
 *
 *     m ← β₁ m + (1 − β₁) g      v ← β₂ v + (1 − β₂) g²      w ← w − η (m̂ / (√v̂ + ε) + decay · w)      ε = 1e-5 max √v̂
 *
 * Adam's own ε is 1e-8, of whatever size the gradients are. A batch of all training rows has a gradient of the last bias that is
 * 0 but for rounding, since the network begins at the mean; with ε = 1e-8 that moves it by a whole step, to either side.
 *
 * @param training, validation sequences of the set
 */
export async function fitWeights(
  device: Device,
  set: TrainingSet,
  training: Int32Array,
  validation: Int32Array,
  model: Model,
  { epochs, patience, batchSize, learningRate, weightDecay, seed }: FitOptions,
): Promise<Fitted> {
  const { tf } = device;
  const random = seededRandom(`network ${seed}`);
  const most = device.maxElements * SHARE;
  const meanLoss = async (of: Tensor1D) => {
    let [total, count] = [0, 0];
    for (const chosen of batchesOf(set, validation, batchSize * VALIDATION_BATCHES, most)) {
      const loss = await model.loss(chosen, of);
      total += loss.total;
      count += loss.count;
    }
    return total / count;
  };
  let [weights, first, second, best, decayed] = tf.tidy((): Tensor1D[] => {
    const initial = tf.tensor1d(model.initial);
    const zeros = () => tf.zeros<Rank.R1>([model.initial.length]);
    return [initial, zeros(), zeros(), tf.clone(initial), tf.tensor1d(model.decayed)];
  });
  let bestEpoch = 0;
  let steps = 0;
  try {
    let bestLoss = await meanLoss(weights);
    for (let epoch = 1; epoch <= epochs && epoch - bestEpoch <= patience; epoch++) {
      for (const chosen of batchesOf(set, shuffled(training, random), batchSize, most)) {
        steps++;
        const next = tf.tidy(() => {
          const gradient = model.gradient(chosen, weights, random);
          const m = tf.add(tf.mul(first, BETA1), tf.mul(gradient, 1 - BETA1));
          const v = tf.add(tf.mul(second, BETA2), tf.mul(tf.square(gradient), 1 - BETA2));
          const size = tf.sqrt(tf.div(v, 1 - BETA2 ** steps));
          const epsilon = tf.add(tf.mul(tf.max(size), ROUNDING), TINY);
          const step = tf.div(tf.div(m, 1 - BETA1 ** steps), tf.add(size, epsilon));
          const decay = tf.mul(tf.mul(weights, decayed), weightDecay);
          return [tf.sub(weights, tf.mul(tf.add(step, decay), learningRate)), m, v] as Tensor1D[];
        });
        tf.dispose([weights, first, second]);
        [weights, first, second] = next;
      }
      const loss = await meanLoss(weights);
      if (!(loss < bestLoss)) continue;
      bestLoss = loss;
      bestEpoch = epoch;
      best.dispose();
      best = tf.clone(weights);
    }
    return { weights: new Float32Array(await best.data()), epochs: bestEpoch, validationLoss: bestLoss };
  } finally {
    tf.dispose([weights, first, second, best, decayed]);
  }
}

/** Batches of sequences: so many, or fewer where the padded rows would be too large. */
export function* batchesOf(
  { offsets, width }: Pick<TrainingSet, 'offsets' | 'width'>,
  sequences: Int32Array,
  batchSize: number,
  maxElements: number,
): Generator<Int32Array> {
  let from = 0;
  let longest = 0;
  for (let i = 0; i < sequences.length; i++) {
    const length = Math.max(longest, offsets[sequences[i] + 1] - offsets[sequences[i]]);
    const isFull = i - from === batchSize || (i > from && (i - from + 1) * length * width > maxElements);
    if (isFull) {
      yield sequences.subarray(from, i);
      from = i;
      longest = offsets[sequences[i] + 1] - offsets[sequences[i]];
    } else longest = length;
  }
  if (sequences.length > from) yield sequences.subarray(from);
}

function shuffled(sequences: Int32Array, random: Random): Int32Array {
  const order = sequences.slice();
  for (let i = order.length - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
