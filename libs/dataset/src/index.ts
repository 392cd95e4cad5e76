export { concatTrajectories, jsonValues } from './concat.js';
export { joinAnnotations, type Annotation } from './join-annotations.js';
export { laterColumn } from './later-column.js';
export { withOwnTexts } from './own-texts.js';
export { numberGroups, sliceTrajectories } from './slice.js';
export { hashesOf, laterTexts, type TextHashes } from './texts.js';
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
