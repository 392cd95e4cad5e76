import { FEATURE_COUNT } from './features.js';

export interface ValueExample {
  readonly features: readonly number[];
  readonly observedReturn: number;
}

/** A learned guess of the chance of success from a state: it knows past trajectories only, never the exact values. */
export interface Critic {
  estimate(features: readonly number[]): number;
  /** One pass of stochastic gradient on the cross-entropy. */
  fit(examples: readonly ValueExample[]): void;
}

/** Logistic regression on the features: V = 1 / (1 + exp(−w·φ)). Returns lie in [0, 1]. */
export function logisticCritic(learningRate: number): Critic {
  const weights = new Float64Array(FEATURE_COUNT);
  return { estimate, fit };

  function estimate(features: readonly number[]): number {
    return 1 / (1 + Math.exp(-features.reduce((sum, feature) => sum + weights[feature], 0)));
  }

  function fit(examples: readonly ValueExample[]): void {
    for (const { features, observedReturn } of examples) {
      const step = learningRate * (observedReturn - estimate(features));
      for (const feature of features) weights[feature] += step;
    }
  }
}
