import { Access1767225600000 } from './1767225600000-access.js';

/** All of them, in order. Each is raw SQL and imports nothing of ours. */
export const MIGRATIONS = [Access1767225600000] as const;
