import type { Evaluated } from './softmax.js';

/**
 * Adds the policy gradient of one chosen word to `gradient`:
 *
 *     A · ∇ log p(c) + β · ∇ H        at the fork of c, H its entropy
 */
export function addChoiceGradient(
  gradient: Float64Array,
  { tree, logprob, entropy }: Evaluated,
  choice: number,
  {
    advantage,
    entropyWeight,
    scale,
  }: { readonly advantage: number; readonly entropyWeight: number; readonly scale: number },
): void {
  const { forkOf, forkOffsets, featureOffsets, features } = tree;
  const fork = forkOf[choice];
  for (let c = forkOffsets[fork]; c < forkOffsets[fork + 1]; c++) {
    const p = Math.exp(logprob[c]);
    const policy = advantage * ((c === choice ? 1 : 0) - p);
    const spread = -entropyWeight * p * (logprob[c] + entropy[fork]);
    const amount = scale * (policy + spread);
    for (let f = featureOffsets[c]; f < featureOffsets[c + 1]; f++) gradient[features[f]] += amount;
  }
}
