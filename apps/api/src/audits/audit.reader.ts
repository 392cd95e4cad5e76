import type { Confined } from '#lib/access';
import type { Key, Order } from '../graphql/cursor.js';
import type { Audit } from './audit.object.js';

const COLUMNS = `id, run_id as run, as_of::float8 as "asOf", estimator, version, params, signal, state, failure, result,
  created_at as "createdAt", finished_at as "finishedAt"`;

export const NEWEST_AUDIT: Order<Audit> = {
  parts: ['instant', 'text'],
  keyOf: ({ createdAt, id }) => [createdAt.toISOString(), id],
};

export async function auditById(db: Confined, id: string): Promise<Audit | null> {
  const [audit] = await db.query<Audit>(`select ${COLUMNS} from audit where id = $1`, [id]);
  return audit ?? null;
}

/** Of each run, newest first. */
export function auditsOfRuns(db: Confined, runIds: readonly string[], limit: number, after: Key | null) {
  return db.query<Audit & { of: string }>(
    `select wanted.id as "of", found.* from unnest($1::text[]) as wanted(id)
     cross join lateral (
       select ${COLUMNS} from audit
       where run_id = wanted.id and ($3::timestamptz is null or (created_at, id) < ($3, $4))
       order by created_at desc, id desc limit $2
     ) as found`,
    [runIds, limit, ...(after ?? [null, null])],
  );
}
