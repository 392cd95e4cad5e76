/** A straight line y = slope · x + intercept through points, by least squares; null with fewer than two different x. */
export function leastSquares(
  x: readonly number[],
  y: readonly number[],
): { readonly slope: number; readonly intercept: number } | null {
  const n = x.length;
  const meanX = x.reduce((sum, value) => sum + value, 0) / n;
  const meanY = y.reduce((sum, value) => sum + value, 0) / n;
  let xx = 0;
  let xy = 0;
  for (let i = 0; i < n; i++) {
    xx += (x[i] - meanX) ** 2;
    xy += (x[i] - meanX) * (y[i] - meanY);
  }
  if (n < 2 || xx === 0) return null;
  return { slope: xy / xx, intercept: meanY - (xy / xx) * meanX };
}
