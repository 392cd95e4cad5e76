import type { Queryable } from '#lib/storage';
import type { SignalSummaryRow } from '../signal-summary.projection.js';

/** Which signals a run carries, on how many rows, and between which numbers. */
export async function signalsOf(db: Queryable, runId: string): Promise<Readonly<SignalSummaryRow>[]> {
  const { rows } = await db.query(
    `select source, level, name, rows::float8 as rows, numbers::float8 as numbers, minimum, maximum, sum
     from signal_summary where run_id = $1 order by level, name, source`,
    [runId],
  );
  return rows;
}
