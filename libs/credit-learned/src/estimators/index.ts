import type { LearnedEstimator } from '../learned-estimator.js';
import { learnedProgress } from './learned-progress.js';
import { learnedReturnDecomposition } from './learned-return-decomposition.js';
import { learnedRudder } from './learned-rudder.js';
import { learnedStepQ } from './learned-step-q.js';
import { learnedValueGae } from './learned-value-gae.js';
import { spaLearned } from './spa-learned.js';

/** The catalogue of what learns, in the order in which it is shown after the closed-form estimators. */
export const LEARNED_ESTIMATORS: readonly LearnedEstimator[] = [
  spaLearned,
  learnedReturnDecomposition,
  learnedRudder,
  learnedProgress,
  learnedValueGae,
  learnedStepQ,
];
