import { escapeLiteral, type Pool, type PoolClient } from 'pg';

/** A writer that was stopped in the middle must not hold its run for ever, and nobody waits for it longer than that. */
const PATIENCE = '15s';

/**
 * Runs `work` in one transaction on one connection. Returned means committed; thrown means rolled back or, when the
 * connection died on the way, unknown.
 *
 * Its prepared statements look rows up by key, whatever the parameters are: one plan for all of them.
 *
 * @param projects what row-level security lets the transaction see: ids with commas between them, `*` for all
 */
export async function transact<T>(pool: Pool, projects: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  // a held connection that dies reports here too, and unheard that ends the process
  const unheard = () => {};
  client.on('error', unheard);
  let broken: Error | undefined;
  try {
    await client.query(
      `begin;
       set local lock_timeout = '${PATIENCE}';
       set local plan_cache_mode = force_generic_plan;
       set local idle_in_transaction_session_timeout = '${PATIENCE}';
       set local recredit.projects = ${escapeLiteral(projects)}`,
    );
    const result = await work(client);
    const { command } = await client.query('commit');
    if (command === 'ROLLBACK') throw new Error('the transaction had failed and was rolled back');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.off('error', unheard);
    client.release(broken);
  }
}
