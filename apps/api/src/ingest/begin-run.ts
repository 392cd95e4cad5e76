import type { RegisteredRun } from '#lib/access';
import { APPEND_CHANNEL, appendOwn, headOf } from '#lib/event-log';
import type { RunEvent } from '#lib/protocol';
import { inTransaction, type Pool } from '#lib/storage';

/**
 * Writes `run.started` as the first event of a run's stream, once: also where two requests create the run at the same
 * time, or a crash came between registration and event.
 *
 * @returns how many events the run has
 */
export async function beginRun(pool: Pool, run: RegisteredRun, project: string): Promise<number> {
  const head = await headOf(pool, run.id);
  if (head > 0) return head;
  const position = await inTransaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('begin ' || $1, 0))`, [run.id]);
    const there = await headOf(client, run.id);
    if (there > 0) return there;
    const event = { type: 'run.started', at: run.createdAt.toISOString(), project, name: run.name, config: run.config };
    const [first] = await appendOwn(client, run.id, [event as RunEvent]);
    return first + 1;
  });
  await pool.query('select pg_notify($1, $2)', [APPEND_CHANNEL, run.id]);
  return position;
}
