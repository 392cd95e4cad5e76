import type { RunEvent } from '#lib/protocol';
import type { BatchCache } from './batch-cache.js';
import { rowsWithBytes, type Queryable } from './queryable.js';
import { eventAt, PACKED, PACKED_COLUMNS, unpack, type PackedBatch, type UnpackedBatch } from './unpack.js';

/** As many as libuv has threads. */
const UNPACKED_AT_ONCE = 4;

export interface ReadAtOptions {
  /** of NDJSON asked of the database by one statement; beyond that another one follows */
  readonly maxBytes?: number;
  /** only for readers that see every project: what is here is not asked of the database, so row-level security is not */
  readonly cache?: BatchCache;
}

/**
 * The events at the given positions, in one statement unless they are many: only the batches that hold them are
 * fetched, each once, and unpacked a few at a time. A position that holds nothing, or whose payload was erased, is
 * absent from the answer.
 */
export async function readEventsAt(
  db: Queryable,
  runId: string,
  positions: readonly number[],
  { maxBytes = 64 * 1024 * 1024, cache }: ReadAtOptions = {},
): Promise<Map<number, RunEvent>> {
  const events = new Map<number, RunEvent>();
  let wanted = [...new Set(positions)].sort((a, b) => a - b);
  for (const batch of cache?.batchesOf(runId) ?? []) {
    if (takeEvents(batch, wanted, events)) cache?.touch(runId, batch);
  }
  wanted = wanted.filter((position) => !events.has(position));

  while (wanted.length > 0) {
    const packed = await holdersOf(db, runId, wanted, maxBytes);
    for (let i = 0; i < packed.length; i += UNPACKED_AT_ONCE) {
      for (const batch of await Promise.all(packed.slice(i, i + UNPACKED_AT_ONCE).map(unpack))) {
        cache?.set(runId, batch);
        takeEvents(batch, wanted, events);
      }
    }
    const bytes = packed.reduce((sum, { size }) => sum + size, 0);
    if (bytes < maxBytes) break; // that was all there is
    const { firstPosition, eventCount } = packed.at(-1)!;
    wanted = wanted.filter((position) => position >= firstPosition + eventCount);
  }
  return events;
}

/** Takes out of a batch what is wanted of it. @param wanted ascending */
function takeEvents(batch: UnpackedBatch, wanted: readonly number[], events: Map<number, RunEvent>): boolean {
  const end = batch.firstPosition + batch.lineStarts.length - 1;
  const first = lowerBound(wanted, batch.firstPosition);
  let next = first;
  for (; next < wanted.length && wanted[next] < end; next++) events.set(wanted[next], eventAt(batch, wanted[next]));
  return next > first;
}

/** Where the numbers from `least` on begin. */
function lowerBound(ascending: readonly number[], least: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The batches that hold the first of `positions`, by position, as many as `maxBytes` allow but at least one. */
async function holdersOf(
  db: Queryable,
  runId: string,
  positions: readonly number[],
  maxBytes: number,
): Promise<PackedBatch[]> {
  return rowsWithBytes<PackedBatch>(
    db,
    `with holder as (
       select distinct batch.first_position
       from unnest($2::bigint[]) as wanted (position)
       cross join lateral (
         select first_position, event_count from event_batch
         where run_id = $1 and first_position <= wanted.position order by first_position desc limit 1
       ) as batch
       where wanted.position < batch.first_position + batch.event_count
     )
     select ${PACKED}
     from (
       select batch.*, sum(payload_size) over (order by batch.first_position) - payload_size as size_before
       from holder cross join lateral (
         select * from event_batch where run_id = $1 and first_position = holder.first_position and octet_length(payload) > 0 limit 1
       ) as batch
     ) as page
     where size_before < $3
     order by first_position`,
    [runId, positions, maxBytes],
    PACKED_COLUMNS,
  );
}
