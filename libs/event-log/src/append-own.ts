import type { RunEvent } from '#lib/protocol';
import { Pool, type ClientBase } from 'pg';
import { APPEND_CHANNEL } from './append-notices.js';
import { PLATFORM_PRODUCER, type SealedPayload } from './batch.js';
import { knownBatches } from './known-batches.js';
import { erasedRun, lockRun } from './lock-run.js';
import { sealPayload } from './seal.js';
import { storeBatches } from './store-batches.js';
import { transact } from './transaction.js';

/**
 * Appends the platform's own events as the next batch of the producer `recredit`. Given a pool this is a transaction
 * of its own, announced afterwards; given a client it is part of the caller's, who announces it when it is committed.
 *
 * @returns the position of each event
 * @throws RecreditError `run.erased`
 */
export async function appendOwn(db: Pool | ClientBase, runId: string, events: readonly RunEvent[]): Promise<number[]> {
  const ndjson = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  const sealed = await sealPayload(ndjson, events.length);
  if (!(db instanceof Pool)) return appendNext(db, runId, sealed);
  const positions = await transact(db, '*', (client) => appendNext(client, runId, sealed));
  await db.query('select pg_notify($1, $2)', [APPEND_CHANNEL, runId]).catch(() => {});
  return positions;
}

/** The same for events that are sealed, within the caller's transaction. */
export async function appendNext(client: ClientBase, runId: string, sealed: SealedPayload): Promise<number[]> {
  const run = await lockRun(client, runId);
  const { nextPosition, erasedPosition } = run;
  if (erasedPosition !== null) throw erasedRun(runId, erasedPosition);
  const first = { ...sealed, producerId: PLATFORM_PRODUCER, epoch: 0, sequence: 0 };
  const last = (await knownBatches(client, runId, [first])).at(-1);
  const batch = { ...first, sequence: last ? last.sequence + 1 : 0, firstPosition: nextPosition };
  await storeBatches(client, runId, [batch], run);
  return Array.from({ length: sealed.eventCount }, (_, i) => nextPosition + i);
}
