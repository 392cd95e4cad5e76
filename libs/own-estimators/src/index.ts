export { catalogueWith, estimationWith } from './estimation-with.js';
export type { OwnEstimator } from './own-estimator.js';
export { OwnThread } from './own-thread.js';
export { readOwnEstimators } from './read-own-estimators.js';
