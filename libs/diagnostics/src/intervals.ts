/**
 * Wilson's interval of a share.
 *
 *     (p + z²/2n ± z sqrt(p(1 − p)/n + z²/4n²)) / (1 + z²/n)
 *
 * @param successes of n, n ≥ 1
 * @param z 1.645: 90 % to both sides, 95 % to one
 */
export function wilson(successes: number, n: number, z: number): [lower: number, upper: number] {
  const p = successes / n;
  const middle = p + (z * z) / (2 * n);
  const half = z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  const scale = 1 + (z * z) / n;
  return [(middle - half) / scale, (middle + half) / scale];
}

/**
 * Newcombe's interval of the difference of two shares p − q, from Wilson's of each.
 *
 *     lower = p − q − sqrt((p − l_p)² + (u_q − q)²)      upper = p − q + sqrt((u_p − p)² + (q − l_q)²)
 */
export function newcombe(
  left: { readonly successes: number; readonly n: number },
  right: { readonly successes: number; readonly n: number },
  z: number,
): [lower: number, upper: number] {
  const [p, q] = [left.successes / left.n, right.successes / right.n];
  const [lowP, highP] = wilson(left.successes, left.n, z);
  const [lowQ, highQ] = wilson(right.successes, right.n, z);
  return [p - q - Math.hypot(p - lowP, highQ - q), p - q + Math.hypot(highP - p, q - lowQ)];
}
