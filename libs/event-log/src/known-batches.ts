import type { ClientBase } from 'pg';
import type { SealedBatch, StoredBatch } from './batch.js';

/**
 * What `admit` must know: the batches stored under the same sequences, and each producer's last one, by ascending
 * sequence. A statement of its own after the lock: its snapshot holds all that was committed before. Each is looked up
 * by itself: without the limits the planner may join with all batches of the run, and appends slow down as it grows.
 */
export async function knownBatches(
  client: ClientBase,
  runId: string,
  batches: readonly SealedBatch[],
): Promise<StoredBatch[]> {
  const { rows } = await client.query<StoredBatch>({
    name: 'event-log-known-batches',
    text: `select producer_id as "producerId", producer_epoch as epoch, batch_sequence as sequence,
             payload_sha256 as sha256, event_count as "eventCount", first_position::float8 as "firstPosition"
           from (
             select stored.* from unnest($2::text[], $3::int[]) as asked (producer_id, batch_sequence)
             cross join lateral (
               select * from event_batch
               where run_id = $1 and producer_id = asked.producer_id and batch_sequence = asked.batch_sequence limit 1
             ) as stored
             union all
             select last.* from (select distinct unnest($2::text[]) as producer_id) as producer
             cross join lateral (
               select * from event_batch
               where run_id = $1 and event_batch.producer_id = producer.producer_id
               order by batch_sequence desc limit 1
             ) as last
           ) as known
           order by batch_sequence`,
    values: [runId, batches.map((batch) => batch.producerId), batches.map((batch) => batch.sequence)],
  });
  return rows;
}
