export { canonicalJson } from './canonical-json.js';
export { systemClock, type Clock } from './clock.js';
export { ERROR_STATUS, messageOf, RecreditError, type ErrorCode } from './errors.js';
export { errorRecord, masked, type ErrorRecord } from './error-record.js';
export { newId } from './ids.js';
export { meantInstead, nearestName } from './nearest-name.js';
