export { describeEstimator } from './describe-estimator.js';
export {
  estimate,
  estimateLater,
  runLater,
  type Estimate,
  type LaterEstimation,
  type NoEstimate,
  type TrajectoryRecords,
} from './estimate.js';
export {
  defineEstimator,
  type AnyEstimator,
  type Column,
  type Columns,
  type ConditionalNeeds,
  type Credit,
  type Estimator,
  type Gives,
  type KeyPath,
  type SignalParam,
  type VerificationStatus,
} from './estimator.js';
export { ESTIMATORS } from './estimators/index.js';
export { findEstimator } from './find-estimator.js';
export { missingText, needsOf, type MissingSignal, type Needs } from './needs.js';
export { nest, type Nested } from './nest.js';
export {
  enterEstimator,
  leaveEstimator,
  paramsSchema,
  parseParams,
  runEstimator,
  type Outcome,
} from './run-estimator.js';
export { Flag, signalValues, type SignalKind, type SignalKinds, type TextValues } from './signal-kinds.js';
export { readersOfSignals, signalsRead } from './signal-readers.js';
export {
  AS_RECORDED,
  comparesTexts,
  identifyStates,
  isAsRecorded,
  readsStates,
  StateIdentity,
  statesInOrder,
  statesOf,
  type IdentifiedStates,
  type StateRows,
} from './state-identity.js';
export { nodeMeans, sharedTurns, trajectoryTree, type SharedTurns, type TrajectoryTree } from './trajectory-tree.js';
export { creditAt, turnCredit } from './turn-credit.js';
export { checkVectors, differences, type CheckedCase, type CheckedVectors } from './vectors.js';
export type { VectorCase } from './vector-records.js';
