/**
 * Solves M x = b for a symmetric positive definite M, by Cholesky: M = L Lᵀ.
 *
 * @param matrix [size × size] row by row; its lower half is overwritten
 * @param right [size]
 * @returns [size]; NaN where rounding or overflow leaves M not positive definite
 */
export function solvePositiveDefinite(matrix: Float64Array, right: Float64Array): Float64Array {
  const size = right.length;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * size + j];
      for (let k = 0; k < j; k++) sum -= matrix[i * size + k] * matrix[j * size + k];
      matrix[i * size + j] = i === j ? Math.sqrt(sum) : sum / matrix[j * size + j];
    }
  }
  const x = right.slice();
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < i; k++) x[i] -= matrix[i * size + k] * x[k];
    x[i] /= matrix[i * size + i];
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let k = i + 1; k < size; k++) x[i] -= matrix[k * size + i] * x[k];
    x[i] /= matrix[i * size + i];
  }
  return x;
}

/**
 * Weights of the linear model that misses the targets least, kept small.
 *
 *     w = argmin Σ_i (w · x[i] − y[i])² + ridge · |w|²
 *       = (XᵀX + ridge · I)⁻¹ Xᵀy = Xᵀ (XXᵀ + ridge · I)⁻¹ y
 *
 * The smaller of the two systems is solved: min(rows, features)³ / 3 multiplications. No intercept.
 *
 * @param rows [rows × features]
 * @param targets [rows]
 * @returns [features]
 */
export function ridgeWeights(
  rows: Float64Array,
  targets: Float64Array,
  featureCount: number,
  ridge: number,
): Float64Array {
  const rowCount = targets.length;
  if (featureCount <= rowCount) {
    const gram = gramMatrix(rows, { count: featureCount, stride: 1 }, { count: rowCount, stride: featureCount }, ridge);
    return solvePositiveDefinite(gram, weightedSum(rows, targets, featureCount));
  }
  const gram = gramMatrix(rows, { count: rowCount, stride: featureCount }, { count: featureCount, stride: 1 }, ridge);
  return weightedSum(rows, solvePositiveDefinite(gram, targets), featureCount);
}

/** [features] Xᵀ weights */
function weightedSum(rows: Float64Array, weights: Float64Array, featureCount: number): Float64Array {
  const sums = new Float64Array(featureCount);
  for (let i = 0; i < weights.length; i++) {
    for (let f = 0; f < featureCount; f++) sums[f] += weights[i] * rows[i * featureCount + f];
  }
  return sums;
}

/** How many there are, and how far apart they lie. */
interface Axis {
  readonly count: number;
  readonly stride: number;
}

/** Products of all pairs of vectors, and ridge on the diagonal. */
function gramMatrix(rows: Float64Array, vectors: Axis, along: Axis, ridge: number): Float64Array {
  const size = vectors.count;
  const end = along.count * along.stride;
  const gram = new Float64Array(size * size);
  for (let a = 0; a < size; a++) {
    for (let b = 0; b <= a; b++) {
      const [ofA, ofB] = [a * vectors.stride, b * vectors.stride];
      let product = a === b ? ridge : 0;
      for (let at = 0; at < end; at += along.stride) product += rows[ofA + at] * rows[ofB + at];
      gram[a * size + b] = product;
    }
  }
  return gram;
}
