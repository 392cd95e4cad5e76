export { checkBatch, countEvents, isDeeperThan, MAX_BATCH_BYTES, MAX_BATCH_EVENTS, MAX_DEPTH } from './check-batch.js';
export { defineEvent, type EventDefinition, type Upcast } from './define-event.js';
export {
  MAX_SKETCH,
  MAX_SKETCHED_TENSORS,
  Signals,
  SketchedTensor,
  Text,
  TokenColumn,
  TokenColumns,
  TrajectoryRecord,
  Turn,
} from './fields.js';
export { shown, type LineIssue } from './issues.js';
export { sketchIssue, turnsIssue } from './named-checks.js';
export { PLATFORM_EVENTS, RUN_EVENTS, type RunEvent, type RunEventType } from './run.events.js';
export { schemaDocument } from './schema-document.js';
export { textKey } from './text.js';
export { MAX_SIGNAL_NAMES, signalNamesIssue } from './signal-names.js';
export { SIGNALS, type SignalDefinition, type SignalLevel } from './signal-catalogue.js';
export { recordedInstead, signalAt, suggestSignal } from './suggest-signal.js';
export { overflowingToken, tokenCount, tokenNumbers } from './tokens.js';
export { upcast } from './upcast.js';
export { eventIssue, trajectoryIssue, type Issue } from './validators.js';
