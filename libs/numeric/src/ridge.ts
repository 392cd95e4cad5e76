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
  const x = Float64Array.from(right);
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
  const at = (i: number, f: number) => rows[i * featureCount + f];
  const transposed = (x: Float64Array) =>
    Float64Array.from({ length: featureCount }, (_, f) => x.reduce((sum, value, i) => sum + value * at(i, f), 0));

  if (featureCount <= rowCount) {
    const gram = gramMatrix(featureCount, rowCount, (f, i) => at(i, f), ridge);
    return solvePositiveDefinite(gram, transposed(targets));
  }
  return transposed(solvePositiveDefinite(gramMatrix(rowCount, featureCount, at, ridge), targets));
}

/** Products of all pairs of vectors, and ridge on the diagonal. */
function gramMatrix(
  size: number,
  length: number,
  at: (vector: number, k: number) => number,
  ridge: number,
): Float64Array {
  const gram = new Float64Array(size * size);
  for (let a = 0; a < size; a++) {
    for (let b = 0; b <= a; b++) {
      let product = a === b ? ridge : 0;
      for (let k = 0; k < length; k++) product += at(a, k) * at(b, k);
      gram[a * size + b] = product;
    }
  }
  return gram;
}
