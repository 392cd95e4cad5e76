import { ownerOf } from '#lib/numeric';
import {
  chosenRows,
  networkOutputs,
  recurrentOutputs,
  trainNetwork,
  trainRecurrent,
  type Device,
  type Rows,
  type TrainingOptions,
  type TrainingSet,
} from '#lib/tensor';
import type { Fold } from './folds.js';
import type { NetworkParams } from './learned-params.js';

/** Rows of turns, and what is learned of them. @param target [trajectories] or [turns], as the loss wants it */
export function trainingSet(rows: Rows, turnOffsets: Int32Array, target: Float64Array): TrainingSet {
  return { ...rows, offsets: turnOffsets, targets: Float32Array.from(target) };
}

/** Params of a network as the training takes them. */
export function trainingOptions(
  params: NetworkParams & { readonly seed: number },
  rest: Pick<TrainingOptions, 'loss' | 'drawn'>,
): TrainingOptions {
  const { hiddenUnits, epochs, patience, batchSize, learningRate, weightDecay, seed } = params;
  return { hidden: hiddenUnits, epochs, patience, batchSize, learningRate, weightDecay, seed, ...rest };
}

/**
 * The output for every row, of the network that was trained without the fold its sequence is in.
 *
 * Where outputs add up to the target of their sequence, the mean target of the training folds is shared out evenly and the
 * network learns the rest: one that learned nothing says the mean.
 *
 * @returns [rows] NaN on rows of no fold
 */
export async function crossFit(
  device: Device,
  set: TrainingSet,
  folds: readonly Fold[],
  options: TrainingOptions,
): Promise<Float64Array> {
  const sequenceOf = ownerOf(set.offsets);
  const outputs = new Float64Array(set.values.length / set.width).fill(NaN);
  for (const [f, { training, validation, heldOut }] of folds.entries()) {
    const seed = `${options.seed} fold ${f}`;
    const isSum = options.loss === 'sum' || options.loss === 'drawn';
    const mean = isSum ? training.reduce((sum, i) => sum + set.targets[i], 0) / training.length : 0;
    const rest = isSum ? { ...set, targets: set.targets.map((target) => target - mean) } : set;
    const { network } = await trainNetwork(device, rest, training, validation, { ...options, seed });
    const rows = rowsOf(set, heldOut);
    const said = await networkOutputs(device, network, { values: chosenRows(set, rows), width: set.width });
    rows.forEach((row, k) => {
      const i = sequenceOf[row];
      outputs[row] = said[k] + mean / (set.offsets[i + 1] - set.offsets[i]);
    });
  }
  return outputs;
}

/**
 * What a recurrent network says at every row, and before the first one: of the network that was trained without the fold the
 * sequence is in.
 *
 * @returns predicted [rows], prior [sequences]; NaN in no fold
 */
export async function crossFitRecurrent(
  device: Device,
  set: TrainingSet,
  folds: readonly Fold[],
  params: NetworkParams & { readonly seed: number; readonly auxiliaryWeight: number },
): Promise<{ predicted: Float64Array; prior: Float64Array }> {
  const predicted = new Float64Array(set.values.length / set.width).fill(NaN);
  const prior = new Float64Array(set.targets.length).fill(NaN);
  for (const [f, { training, validation, heldOut }] of folds.entries()) {
    const { network } = await trainRecurrent(device, set, training, validation, {
      ...params,
      units: params.hiddenUnits,
      auxiliary: params.auxiliaryWeight,
      seed: `${params.seed} fold ${f}`,
    });
    const said = await recurrentOutputs(device, network, set, heldOut);
    rowsOf(set, heldOut).forEach((row, k) => (predicted[row] = said[k]));
    for (const i of heldOut) prior[i] = network.weights[network.weights.length - 1];
  }
  return { predicted, prior };
}

/** The rows of sequences, one sequence after the other. */
function rowsOf({ offsets }: Pick<TrainingSet, 'offsets'>, sequences: Int32Array): Int32Array {
  const rows: number[] = [];
  for (const i of sequences) for (let row = offsets[i]; row < offsets[i + 1]; row++) rows.push(row);
  return Int32Array.from(rows);
}
