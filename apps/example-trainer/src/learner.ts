import { adam } from './policy/adam.js';
import { logisticCritic, type ValueExample } from './policy/critic.js';
import { FEATURE_COUNT } from './policy/features.js';
import { addChoiceGradient } from './policy/gradient.js';
import { evaluate, type Evaluated } from './policy/softmax.js';
import { FORCED, type WordTree } from './policy/word-tree.js';

/** A word that was chosen, and what the estimator says of the choice. */
export interface CreditedChoice {
  readonly policy: Evaluated;
  readonly choice: number;
  readonly advantage: number;
}

export interface Update {
  /** − mean of advantage × log-probability over the choices */
  readonly loss: number;
  readonly gradNorm: number;
}

/** What training changes: the policy's weights and the critic's. */
export interface Learner {
  evaluate(tree: WordTree): Evaluated;
  estimate(features: readonly number[]): number;
  /** One step up the policy gradient over all choices of a training step. */
  improve(choices: readonly CreditedChoice[]): Update;
  fitCritic(examples: readonly ValueExample[]): void;
  /** the policy's weights as they are now */
  readonly policy: Float64Array;
}

const CRITIC_RATE = 0.02;

export function learner({ learningRate, entropyWeight }: { learningRate: number; entropyWeight: number }): Learner {
  const policy = adam(FEATURE_COUNT, learningRate);
  const critic = logisticCritic(CRITIC_RATE);
  return {
    policy: policy.weights,
    evaluate: (tree) => evaluate(tree, policy.weights),
    estimate: (features) => critic.estimate(features),
    fitCritic: (examples) => critic.fit(examples),
    improve(choices) {
      const gradient = new Float64Array(FEATURE_COUNT);
      const scale = 1 / choices.length;
      let loss = 0;
      for (const { policy: evaluated, choice, advantage } of choices) {
        addChoiceGradient(gradient, evaluated, choice, { advantage, entropyWeight, scale });
        loss -= scale * advantage * evaluated.logprob[choice];
      }
      return { loss, gradNorm: policy.climb(gradient) };
    },
  };
}

/** The choices of a turn, each with its own advantage. */
export function creditedChoices(policy: Evaluated, choices: readonly number[], advantageOf: (word: number) => number) {
  return choices.flatMap((choice, word): CreditedChoice[] =>
    choice === FORCED ? [] : [{ policy, choice, advantage: advantageOf(word) }],
  );
}
