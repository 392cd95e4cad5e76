export { trajectoryBatch } from './trajectory-batch.builder.js';
export {
  levelOf,
  numbers,
  rowCount,
  type Level,
  type NumericValues,
  type SignalColumn,
  type SignalPath,
  type Texts,
  type TrajectoryBatch,
} from './trajectory-batch.js';
