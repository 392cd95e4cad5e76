import { FORCED, type SpeltCommand, type WordTree } from './word-tree.js';

/** The policy with its current weights, over one word tree. Everything in nats. */
export interface Evaluated {
  readonly tree: WordTree;
  /** [choices] log-probability at its fork */
  readonly logprob: Float64Array;
  /** [forks] */
  readonly entropy: Float64Array;
}

/**
 * A softmax over the words that may follow, with logits linear in the features:
 *
 *     log p(c) = w·φ(c) − log Σ_{c' at the same fork} exp(w·φ(c'))
 */
export function evaluate(tree: WordTree, weights: Float64Array): Evaluated {
  const { forkOffsets, featureOffsets, features } = tree;
  const logprob = new Float64Array(featureOffsets.length - 1);
  for (let c = 0; c < logprob.length; c++) {
    for (let f = featureOffsets[c]; f < featureOffsets[c + 1]; f++) logprob[c] += weights[features[f]];
  }
  const entropy = new Float64Array(forkOffsets.length - 1);
  for (let n = 0; n < entropy.length; n++) entropy[n] = normalise(logprob.subarray(forkOffsets[n], forkOffsets[n + 1]));
  return { tree, logprob, entropy };
}

/** Turns logits into log-probabilities in place and answers their entropy. */
function normalise(logits: Float64Array): number {
  const highest = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - highest), 0);
  const shift = highest + Math.log(sum);
  let entropy = 0;
  for (let c = 0; c < logits.length; c++) {
    logits[c] -= shift;
    entropy -= Math.exp(logits[c]) * logits[c];
  }
  return entropy;
}

/** The log-probability of a whole command: the sum over its words; a forced word is certain. */
export function commandLogprob({ logprob }: Evaluated, { choices }: SpeltCommand): number {
  return choices.reduce((sum, choice) => sum + (choice === FORCED ? 0 : logprob[choice]), 0);
}

/** The policy over the commands of a view. */
export function commandProbabilities(evaluated: Evaluated, view: number): number[] {
  return evaluated.tree.commands[view].map((command) => Math.exp(commandLogprob(evaluated, command)));
}
