export { formatCurve, sparkline, type CurveSize } from './curve.js';
export { FAULTS, type FaultId } from './plant.js';
export type { RunPort, TrajectoryPort } from './port.js';
export type { StepMetrics } from './step-metrics.js';
export { train, TRAINING_DEFAULTS, type TrainingCurve, type TrainingOptions, type TrainingProgress } from './train.js';
