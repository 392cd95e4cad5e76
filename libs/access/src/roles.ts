import { RecreditError } from '#lib/kernel';
import type { KeyLimits } from './rate-limit.js';

/** What a key may do. `admin` may do all of it, and make and revoke keys. */
export const ROLES = ['ingest', 'read', 'analyze', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Ids of projects, or every project there is and will be. */
export type Projects = readonly string[] | '*';

/** Who is asking, as found out from the key. */
export interface Principal {
  readonly keyId: string;
  readonly projects: Projects;
  readonly roles: readonly Role[];
  /** the key's own; not said: as the platform is set */
  readonly limits?: KeyLimits;
}

export function hasRole(principal: Principal, role: Role): boolean {
  return principal.roles.includes(role) || principal.roles.includes('admin');
}

export function requireRole(principal: Principal, role: Role): void {
  if (hasRole(principal, role)) return;
  throw new RecreditError(
    'role.missing',
    `this needs a key with the role ${role}; yours has ${principal.roles.join(', ')}`,
    {
      needed: role,
      roles: principal.roles,
    },
  );
}
