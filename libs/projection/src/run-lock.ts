import { inTransaction, type Pool, type PoolClient } from '#lib/storage';

/** A worker that was stopped in the middle must not hold its runs for ever. Storing a large segment may take its time. */
const PATIENCE = '5min';

/**
 * Runs `work` in a transaction as the only one who projects the run, on this machine or another.
 *
 * @param wait false: where somebody else is at it, that is left to him
 * @returns what `work` returns, or null where it was left
 */
export function withRun<T>(
  pool: Pool,
  runId: string,
  wait: boolean,
  work: (client: PoolClient) => Promise<T>,
): Promise<T | null> {
  return inTransaction(pool, async (client) => {
    await client.query(`set local idle_in_transaction_session_timeout = '${PATIENCE}'`);
    const { rows } = await client.query(wait ? WAIT : TRY, [`projection of ${runId}`]);
    return rows[0].locked ? work(client) : null;
  });
}

const TRY = 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked';
const WAIT = 'select true as locked from pg_advisory_xact_lock(hashtextextended($1, 0))';
