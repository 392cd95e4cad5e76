import { ownerOf, solvePositiveDefinite } from '#lib/numeric';
import { chosenRows, normalEquations, type Device, type Rows } from '#lib/tensor';
import type { Fold } from './folds.js';

/** Tried on the validation fold, where no ridge is said. */
const RIDGES = [1, 10, 100, 1e3, 1e4, 1e5];

/**
 * A linear reward of every turn, by weights that were solved without the fold its trajectory is in.
 *
 *     r[t] = R̄ / T + w · x[t]      w minimises Σ_i (Σ_t w · x[t] − (R[i] − R̄))² + ridge |w|²      i in the training folds
 *
 * @param rows x, of turns @param outcome R [trajectories]
 * @param ridge null: of 1, 10 .. 100000 the one that does best on the validation fold
 * @returns [turns] NaN in no fold
 */
export async function linearRewards(
  device: Device,
  { values, width }: Rows,
  offsets: Int32Array,
  outcome: Float64Array,
  folds: readonly Fold[],
  ridge: number | null,
): Promise<Float64Array> {
  const sums = sumsOfRows({ values, width }, offsets);
  const reward = new Float64Array(values.length / width).fill(NaN);
  for (const { training, validation, heldOut } of folds) {
    const mean = training.reduce((sum, i) => sum + outcome[i], 0) / training.length;
    const rows = { values: chosenRows(sums, training), width };
    const targets = Float32Array.from(training, (i) => outcome[i] - mean);
    const solve = await ridgeSolver(device, rows, targets);
    let best: { loss: number; weights: Float64Array } = { loss: Infinity, weights: new Float64Array(width) };
    for (const penalty of ridge === null ? RIDGES : [ridge]) {
      const weights = solve(penalty);
      const loss = validation.reduce(
        (sum, i) => sum + (product(sums.values, i, weights) - (outcome[i] - mean)) ** 2,
        0,
      );
      if (loss < best.loss) best = { loss, weights };
    }
    for (const i of heldOut) {
      const share = mean / (offsets[i + 1] - offsets[i]);
      for (let t = offsets[i]; t < offsets[i + 1]; t++) reward[t] = share + product(values, t, best.weights);
    }
  }
  return reward;
}

/**
 * Weights by ridge, of one set of rows: w = (XᵀX + ridge I)⁻¹ Xᵀy or, of fewer rows than columns, the same from the
 * smaller system, Xᵀ (XXᵀ + ridge I)⁻¹ y.
 */
async function ridgeSolver(device: Device, { values, width }: Rows, targets: Float32Array) {
  const isWide = targets.length < width;
  const { gram, moment } = isWide
    ? await normalEquations(device, transposed({ values, width }), new Float32Array(width))
    : await normalEquations(device, { values, width }, targets);
  const size = isWide ? targets.length : width;
  return (ridge: number): Float64Array => {
    const matrix = gram.slice();
    for (let k = 0; k < size; k++) matrix[k * size + k] += ridge;
    const solution = solvePositiveDefinite(matrix, isWide ? Float64Array.from(targets) : moment);
    if (!isWide) return solution;
    const weights = new Float64Array(width);
    solution.forEach((share, row) => {
      for (let k = 0; k < width; k++) weights[k] += share * values[row * width + k];
    });
    return weights;
  };
}

function transposed({ values, width }: Rows): Rows {
  const rowCount = values.length / width;
  const turned = new Float32Array(values.length);
  for (let row = 0; row < rowCount; row++) {
    for (let k = 0; k < width; k++) turned[k * rowCount + row] = values[row * width + k];
  }
  return { values: turned, width: rowCount };
}

/** [trajectories × width] */
function sumsOfRows({ values, width }: Rows, offsets: Int32Array): Rows {
  const sums = new Float32Array((offsets.length - 1) * width);
  ownerOf(offsets).forEach((i, t) => {
    for (let k = 0; k < width; k++) sums[i * width + k] += values[t * width + k];
  });
  return { values: sums, width };
}

function product(values: Float32Array, row: number, weights: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < weights.length; k++) sum += weights[k] * values[row * weights.length + k];
  return sum;
}
