export { creditOfTurn, type CreditOfTurn } from './credit-of-turn.js';
export { encodeCredit, type CreditToEncode } from './encode-credit.js';
export { encodeSegment, type SegmentFiles } from './encode-segment.js';
export { openCredit, type CreditFile } from './open-credit.js';
export { openSegment, type Segment, type SegmentStep } from './open-segment.js';
export { rowsOfStep, stepBatch, type RowRange, type StepQuery } from './step-batch.js';
export { textHash } from './text-hash.js';
