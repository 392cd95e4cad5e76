import type { Queryable } from '#lib/storage';

/** How many events of the run are projected: what lies before this position can be asked for. */
export async function projectedPosition(db: Queryable, runId: string): Promise<number> {
  const { rows } = await db.query(`select position::float8 as position from run_progress where run_id = $1`, [runId]);
  return rows[0]?.position ?? 0;
}
