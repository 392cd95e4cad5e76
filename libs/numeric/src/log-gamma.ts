/** Where Stirling's series with its terms up to x⁻¹³ is exact to the last digits. */
const FROM = 10;
const SERIES = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360_360, 1 / 156];

/**
 * Natural logarithm of the gamma function.
 *
 *     ln Γ(x) = (x − ½) ln x − x + ½ ln 2π + 1/(12 x) − 1/(360 x³) + …      x ≥ 10; below by Γ(x) = Γ(x + 1) / x
 *
 * @param x above 0
 */
export function logGamma(x: number): number {
  let shifted = x;
  let below = 1;
  for (; shifted < FROM; shifted++) below *= shifted;
  const square = 1 / (shifted * shifted);
  let tail = 0;
  for (let k = SERIES.length - 1; k >= 0; k--) tail = tail * square + SERIES[k];
  const stirling = (shifted - 0.5) * Math.log(shifted) - shifted + 0.5 * Math.log(2 * Math.PI) + tail / shifted;
  return stirling - Math.log(below);
}

/** ln B(a, b) = ln Γ(a) + ln Γ(b) − ln Γ(a + b), for a and b above 0. */
export function logBeta(a: number, b: number): number {
  return logGamma(a) + logGamma(b) - logGamma(a + b);
}
