export { eraseExpired, EXPIRY_CHECK_MS, type ExpiryPorts } from './erase-expired.js';
export { expiredRuns, type ExpiredRun } from './expired-runs.js';
export { finishErasure, type ErasurePorts } from './finish-erasure.js';
export { eraseExpiredJob, eraseRunJob } from './jobs.js';
export { requestErasure, type RequestPorts } from './request-erasure.js';
