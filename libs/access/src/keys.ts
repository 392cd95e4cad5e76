import { RecreditError } from '#lib/kernel';
import type { Confined } from './confine.js';
import { makeKeyText } from './key-text.js';
import { NO_LIMITS, type KeyLimits } from './rate-limit.js';
import { ROLES, type Role } from './roles.js';

export interface ApiKey extends KeyLimits {
  readonly id: string;
  /** null: of every project */
  readonly projectId: string | null;
  readonly name: string;
  readonly roles: readonly Role[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface NewKey extends Partial<KeyLimits> {
  readonly projectId: string | null;
  readonly name: string;
  readonly roles: readonly Role[];
}

const MAX_RATE = 1e9;
const COLUMNS = `id, project_id as "projectId", name, roles, created_at as "createdAt", last_used_at as "lastUsedAt",
  revoked_at as "revokedAt", requests_per_second as "requestsPerSecond", events_per_second as "eventsPerSecond"`;

/** @returns the key, and its text, which cannot be had again. */
export async function createKey(
  db: Confined,
  { projectId, name, roles, ...limits }: NewKey,
): Promise<{ key: ApiKey; text: string }> {
  checkRoles(roles);
  const { requestsPerSecond, eventsPerSecond } = checkedLimits({ ...NO_LIMITS, ...limits });
  if (db.projects !== '*' && (projectId === null || !db.projects.includes(projectId))) {
    throw new RecreditError('project.unknown', `no project ${projectId ?? '(all)'} that this key may make keys for`);
  }
  const { id, secretHash, text } = makeKeyText();
  const [key] = await db.query<ApiKey>(
    `insert into api_key (id, project_id, name, roles, secret_hash, requests_per_second, events_per_second)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
    [id, projectId, name, roles, secretHash, requestsPerSecond, eventsPerSecond],
  );
  return { key, text };
}

function checkRoles(roles: readonly string[]): void {
  const unknown = roles.filter((role) => !ROLES.some((known) => known === role));
  if (roles.length > 0 && unknown.length === 0) return;
  throw new RecreditError(
    'request.invalid',
    `a key has roles out of ${ROLES.join(', ')}; got ${roles.join(', ') || 'none'}`,
  );
}

function checkedLimits(limits: KeyLimits): KeyLimits {
  for (const [name, rate] of Object.entries(limits)) {
    if (rate === null || (rate >= 0 && rate <= MAX_RATE)) continue;
    throw new RecreditError(
      'request.invalid',
      `${name}: wanted a number from 0 (no limit) to ${MAX_RATE}, found ${rate}`,
    );
  }
  return limits;
}

/** Newest first, revoked ones too. `after`: the last key of the page before. */
export function listKeys(
  db: Confined,
  limit = 100,
  after: Pick<ApiKey, 'createdAt' | 'id'> | null = null,
): Promise<ApiKey[]> {
  return db.query<ApiKey>(
    `select ${COLUMNS} from api_key
     where $2::timestamptz is null or (created_at, id) < ($2, $3)
     order by created_at desc, id desc limit $1`,
    [limit, after?.createdAt ?? null, after?.id ?? null],
  );
}

/** Sets both limits. Other processes follow within a second, see `Authenticator`. */
export async function limitKey(db: Confined, id: string, limits: KeyLimits): Promise<ApiKey> {
  const { requestsPerSecond, eventsPerSecond } = checkedLimits(limits);
  const [key] = await db.query<ApiKey>(
    `update api_key set requests_per_second = $2, events_per_second = $3 where id = $1 returning ${COLUMNS}`,
    [id, requestsPerSecond, eventsPerSecond],
  );
  if (!key) throw unknownKey(id);
  return key;
}

const unknownKey = (id: string) => new RecreditError('key.unknown', `no key ${id} in the projects you see`);

/** Revoking again changes nothing. Other processes follow within a second, see `Authenticator`. */
export async function revokeKey(db: Confined, id: string): Promise<ApiKey> {
  const [key] = await db.query<ApiKey>(
    `update api_key set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${COLUMNS}`,
    [id],
  );
  if (!key) throw unknownKey(id);
  return key;
}

/**
 * The key a new platform starts with: admin of every project. null when there is any key already, so that it is made,
 * and shown, once.
 */
export function createFirstKey(db: Confined): Promise<{ key: ApiKey; text: string } | null> {
  return db.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtext('recredit first key'))`);
    const [any] = await tx.query('select 1 from api_key limit 1');
    return any ? null : createKey(tx, { projectId: null, name: 'first key', roles: ['admin'] });
  });
}
