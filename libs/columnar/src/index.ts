export { encodeSegment, type SegmentFiles } from './encode-segment.js';
export { openSegment, type Segment, type SegmentStep } from './open-segment.js';
export { textHash } from './text-hash.js';
export { rowsOfStep, stepBatch, type RowRange, type StepQuery } from './step-batch.js';
