import type { RunEvent } from '#lib/protocol';
import type { BatchCache } from './batch-cache.js';
import { rowsWithBytes, type Queryable } from './queryable.js';
import { eventAt, PACKED, PACKED_COLUMNS, unpack, type PackedBatch, type UnpackedBatch } from './unpack.js';

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
  /** of those that lie in these batches; no more are parsed */
  readonly maxEvents?: number;
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
  { maxBatches = 64, maxBytes = 8 * 1024 * 1024, maxEvents = Infinity, cache }: ReadOptions = {},
): Promise<LoggedEvent[]> {
  const rows = await rowsWithBytes<PackedBatch>(
    db,
    `select ${PACKED}
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
    PACKED_COLUMNS,
  );
  const batches = await Promise.all(rows.map(unpack));
  if (cache) for (const batch of batches) cache.set(runId, batch);
  const from = Math.max(position, batches[0]?.firstPosition ?? 0); // of an erased run, what is left
  return batches.flatMap((batch) => eventsBetween(batch, from, from + maxEvents));
}

function eventsBetween(batch: UnpackedBatch, from: number, to: number): LoggedEvent[] {
  const { firstPosition, receivedAt, lineStarts } = batch;
  const events: LoggedEvent[] = [];
  const end = Math.min(to, firstPosition + lineStarts.length - 1);
  for (let at = Math.max(from, firstPosition); at < end; at++) {
    events.push({ position: at, event: eventAt(batch, at), receivedAt });
  }
  return events;
}
