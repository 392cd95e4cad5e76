import type { Clock } from '#lib/kernel';
import type { Queryable } from '#lib/storage';
import { expiredRuns } from './expired-runs.js';
import { requestErasure, type RequestPorts } from './request-erasure.js';

/** How often to look for runs that are kept no longer. */
export const EXPIRY_CHECK_MS = 10 * 60_000;

export interface ExpiryPorts extends RequestPorts {
  readonly clock: Clock;
  readonly log?: (message: string, details: object) => void;
}

/** Erases what its project keeps no longer, and takes up again what was begun and is not finished. */
export async function eraseExpired(ports: ExpiryPorts): Promise<void> {
  const { pool, clock, finish, log } = ports;
  for (const run of await expiredRuns(pool, clock.now())) {
    const days = `${run.retentionDays} ${run.retentionDays === 1 ? 'day' : 'days'}`;
    const reason = `project ${run.project} keeps runs for ${days} after they ended; the last event came on ${run.lastReceivedAt.toISOString().slice(0, 10)}`;
    const erasure = await requestErasure(ports, run.id, { reason, requestedBy: 'retention', onlyAt: run.position });
    if (erasure) log?.('a run is erased: its retention is over', { run: run.id, name: run.name, reason });
  }
  for (const runId of await unfinished(pool)) await finish(runId);
}

async function unfinished(db: Queryable): Promise<string[]> {
  const { rows } = await db.query('select run_id from run_erasure where finished_at is null order by run_id');
  return rows.map((row: { run_id: string }) => row.run_id);
}
