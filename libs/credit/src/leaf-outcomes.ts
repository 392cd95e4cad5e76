import type { ConditionalNeeds } from './estimator.js';

/** The outcome of every trajectory but those that were cut off: a candidate that was not continued is no leaf. */
export const LEAF_OUTCOME = {
  when: {},
  unless: 'trajectory.truncated',
  requires: ['trajectory.outcomeReward'],
} as const satisfies ConditionalNeeds<object, 'trajectory.outcomeReward', never>;
