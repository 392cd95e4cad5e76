import { timingSafeEqual } from 'node:crypto';
import { systemClock, RecreditError, type Clock } from '#lib/kernel';
import type { Pool } from '#lib/storage';
import { confine, type Confined } from './confine.js';
import { parseKeyText } from './key-text.js';
import { limitKey, revokeKey, type ApiKey } from './keys.js';
import type { KeyLimits } from './rate-limit.js';
import type { Principal, Role } from './roles.js';

/** How long another process's revocation may go unnoticed here. */
const TRUSTED_MS = 1000;
const MAX_REMEMBERED = 10_000;

interface StoredKey extends KeyLimits {
  readonly projectId: string | null;
  readonly roles: readonly Role[];
  readonly secretHash: Buffer;
  readonly revoked: boolean;
}

/** Tells who holds a key. Remembers the row for a second, so that a trainer's stream of batches is not one of lookups. */
export class Authenticator {
  readonly #db: Confined;
  readonly #remembered = new Map<string, { readonly row: Promise<StoredKey | null>; readonly until: number }>();

  constructor(
    pool: Pool,
    private readonly clock: Clock = systemClock,
  ) {
    this.#db = confine(pool, '*');
  }

  /** @param header the value of `Authorization` */
  async authenticate(header: string | undefined): Promise<Principal> {
    const bearer = header?.match(/^Bearer +(\S+)$/i)?.[1];
    if (!bearer) throw new RecreditError('key.missing', 'send a key: Authorization: Bearer rk_...');
    const text = parseKeyText(bearer);
    const row = text && (await this.#row(text.id));
    // one answer for all of it, so that nobody learns which keys exist
    if (!text || !row || !timingSafeEqual(row.secretHash, text.secretHash) || row.revoked) {
      throw new RecreditError('key.invalid', 'this key is not known, or was revoked');
    }
    const { projectId, roles, requestsPerSecond, eventsPerSecond } = row;
    const limits = { requestsPerSecond, eventsPerSecond };
    return { keyId: text.id, projects: projectId === null ? '*' : [projectId], roles, limits };
  }

  /** Takes effect here at once. */
  revoke(db: Confined, id: string): Promise<ApiKey> {
    return this.#changed(id, () => revokeKey(db, id));
  }

  /** Takes effect here at once. */
  limit(db: Confined, id: string, limits: KeyLimits): Promise<ApiKey> {
    return this.#changed(id, () => limitKey(db, id, limits));
  }

  async #changed(id: string, change: () => Promise<ApiKey>): Promise<ApiKey> {
    try {
      return await change();
    } finally {
      this.#remembered.delete(id);
    }
  }

  #row(id: string): Promise<StoredKey | null> {
    const now = this.clock.now().getTime();
    const known = this.#remembered.get(id);
    if (known && now < known.until) return known.row;
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    const row = this.#look(id);
    row.catch(() => this.#remembered.delete(id));
    this.#remembered.set(id, { row, until: now + TRUSTED_MS });
    return row;
  }

  /** Also notes the use, to the minute. */
  async #look(id: string): Promise<StoredKey | null> {
    const [row] = await this.#db.query<StoredKey & { stale: boolean }>(
      `select project_id as "projectId", roles, secret_hash as "secretHash", revoked_at is not null as revoked,
         requests_per_second as "requestsPerSecond", events_per_second as "eventsPerSecond",
         coalesce(last_used_at < now() - interval '1 minute', true) as stale
       from api_key where id = $1`,
      [id],
    );
    if (row?.stale && !row.revoked) await this.#db.query('update api_key set last_used_at = now() where id = $1', [id]);
    return row ?? null;
  }
}
