import type { Queryable } from '#lib/storage';

/** What stored results cost, of one estimator on one device. */
export interface ShardTime {
  readonly estimator: string;
  readonly device: string;
  readonly seconds: number;
  /** results by their outcome */
  readonly credit: number;
  readonly missing: number;
}

/** Of all results that are stored, whichever worker computed them. */
export async function shardTimes(db: Queryable): Promise<ShardTime[]> {
  const { rows } = await db.query(
    `select estimator, device, sum(seconds) as seconds, count(*) filter (where outcome = 'credit')::int as credit,
       count(*) filter (where outcome = 'missing')::int as missing
     from credit_result group by estimator, device order by estimator, device`,
  );
  return rows;
}
