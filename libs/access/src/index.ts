export { Authenticator } from './authenticator.js';
export { confine, type Confined } from './confine.js';
export { createFirstKey, createKey, limitKey, listKeys, revokeKey, type ApiKey, type NewKey } from './keys.js';
export { ensureProject, findProject, MAX_RETENTION_DAYS, setRetention, type Project } from './projects.js';
export { NO_LIMITS, type KeyLimits } from './rate-limit.js';
export { RateLimiter } from './rate-limiter.js';
export { hasRole, requireRole, ROLES, type Principal, type Projects, type Role } from './roles.js';
export { assertNotErased, findRun, registerRun, type RegisteredRun, type RunRequest } from './runs.js';
