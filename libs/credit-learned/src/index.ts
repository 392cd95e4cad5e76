export { LEARNED_ESTIMATORS } from './estimators/index.js';
export { Learner, learns } from './learner.js';
export { soughtState, type NearTurn, type NearTurns, type SoughtState } from './nearest-turns.js';
