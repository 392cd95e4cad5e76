import type { RunEvent } from '#lib/protocol';
import type { BatchCache } from './batch-cache.js';
import type { Queryable } from './queryable.js';
import { eventAt, unpack, type PackedBatch, type UnpackedBatch } from './unpack.js';

export interface LoggedEvent {
  readonly position: number;
  /** in its current shape, whatever version it was written in */
  readonly event: RunEvent;
  /** when its batch was stored, by the database's clock */
  readonly receivedAt: Date;
}

export interface ReadOptions {
  readonly maxBatches?: number;
  /** of NDJSON; the first batch comes even if it alone is larger */
  readonly maxBytes?: number;
  /** what is read is put in here */
  readonly cache?: BatchCache;
}

/**
 * The events of a run from `position` on, a few batches at a time; none when there is nothing new. Of an erased run
 * what is left is run.erased, wherever one asks from.
 */
export async function readEvents(
  db: Queryable,
  runId: string,
  position: number,
  { maxBatches = 64, maxBytes = 8 * 1024 * 1024, cache }: ReadOptions = {},
): Promise<LoggedEvent[]> {
  const { rows } = await db.query<PackedBatch>(
    `select first_position::float8 as "firstPosition", event_count as "eventCount", received_at as "receivedAt",
       payload, payload_size as size
     from (
       select page.*, sum(payload_size) over (order by first_position) - payload_size as size_before
       from (
         select greatest($2::bigint, erased_position) as wanted from run_stream where run_id = $1
       ) as head
       cross join lateral (
         select coalesce(max(first_position), 0) as start from event_batch
         where run_id = $1 and first_position <= head.wanted
       ) as holder
       cross join lateral (
         select * from event_batch
         where run_id = $1 and first_position >= holder.start and first_position + event_count > head.wanted
         order by first_position limit $3
       ) as page
     ) as page
     where size_before < $4
     order by first_position`,
    [runId, position, maxBatches, maxBytes],
  );
  const batches = await Promise.all(rows.map(unpack));
  if (cache) for (const batch of batches) cache.set(runId, batch);
  return batches.flatMap((batch) => eventsFrom(batch, position));
}

function eventsFrom(batch: UnpackedBatch, position: number): LoggedEvent[] {
  const { firstPosition, receivedAt, lineStarts } = batch;
  const events: LoggedEvent[] = [];
  const end = firstPosition + lineStarts.length - 1;
  for (let at = Math.max(position, firstPosition); at < end; at++) {
    events.push({ position: at, event: eventAt(batch, at), receivedAt });
  }
  return events;
}
