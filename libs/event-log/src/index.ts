export { APPEND_CHANNEL } from './append-notices.js';
export { appendOwn } from './append-own.js';
export { PLATFORM_PRODUCER, type Acknowledgement, type SealedBatch, type SealedPayload } from './batch.js';
export { BatchCache } from './batch-cache.js';
export {
  assertNotErased,
  beginErasure,
  erasuresOf,
  purgePayloads,
  type Erasure,
  type ErasureRequest,
} from './erasure.js';
export { EventLog, type EventLogOptions } from './event-log.js';
export { followAppends, type FollowOptions, type Following } from './follow-appends.js';
export { chainHeads, headOf, headsOf, type ChainHead, type RunHead } from './heads.js';
export { readEvents, type LoggedEvent, type ReadOptions } from './read-events.js';
export { readEventsAt, type ReadAtOptions } from './read-events-at.js';
export { batchOf, sealBatch, sealPayload, sha256, type UnsealedBatch } from './seal.js';
export { unavailable } from './unavailable.js';
export {
  verifyRun,
  verifyStretch,
  type BrokenBatch,
  type Verification,
  type VerifiedStretch,
  type VerifyOptions,
} from './verify-run.js';
