export { LEARNED_ESTIMATORS } from './estimators/index.js';
export type { AnyLearnedEstimator, LearnedEstimator } from './learned-estimator.js';
export { Learner, learns } from './learner.js';
export { soughtState, type NearTurn, type NearTurns, type SoughtState } from './nearest-turns.js';
