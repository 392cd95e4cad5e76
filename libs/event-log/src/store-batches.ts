import type { ClientBase, Pool } from 'pg';
import type { AdmittedBatch } from './batch.js';
import { chain } from './chain.js';

/** Of a row, with the casts that a list of values needs. */
const COLUMNS = {
  first_position: 'bigint',
  event_count: 'integer',
  producer_id: 'text',
  producer_epoch: 'integer',
  batch_sequence: 'integer',
  codec: 'text',
  payload: 'bytea',
  payload_size: 'integer',
  payload_sha256: 'bytea',
  chain_hash: 'bytea',
} as const;
const NAMES = Object.keys(COLUMNS).join(', ');
const CASTS = Object.values(COLUMNS);

/** Where a run ends: the position that the next event will take, and the hash over all batches. */
export interface End {
  readonly nextPosition: number;
  readonly chainHash: Buffer;
}

/**
 * Writes what was admitted and moves the head of the run, in one statement: if the run still ends where it did, and
 * nobody else is about to append. The chain hash is of all that ever was appended, so who knows it knows the run.
 *
 * @param db a pool: the statement is a transaction of its own, and returned means on disk
 * @param end where the first of these follows; a run that is locked ends there for certain
 * @returns where the run ends now; null: nothing was written
 */
export async function storeBatches(
  db: Pool | ClientBase,
  runId: string,
  batches: readonly AdmittedBatch[],
  end: End,
): Promise<End | null> {
  const values: unknown[] = [];
  let { nextPosition, chainHash } = end;
  for (const batch of batches) {
    chainHash = chain(chainHash, batch.sha256);
    const { firstPosition, eventCount, producerId, epoch, sequence, codec, payload, size, sha256 } = batch;
    nextPosition = firstPosition + eventCount;
    // a single parameter each: the driver sends a Buffer as it is, and an array of Buffers as hexadecimal text
    values.push(firstPosition, eventCount, producerId, epoch, sequence, codec, payload, size, sha256, chainHash);
  }
  const { rowCount } = await db.query({
    name: `event-log-store-${batches.length}`,
    text: storing(batches.length),
    values: [runId, end.nextPosition, end.chainHash, nextPosition, chainHash, ...values],
  });
  return rowCount === batches.length ? { nextPosition, chainHash } : null;
}

/** @param count at most 6,553: Postgres takes 65,535 parameters */
function storing(count: number): string {
  const rows = Array.from({ length: count }, (_, row) => {
    return `(${CASTS.map((type, column) => `$${6 + row * CASTS.length + column}::${type}`).join(', ')})`;
  });
  return `with head as materialized (
      select run_id from run_stream
      where run_id = $1 and next_position = $2 and chain_hash = $3 and erased_position is null
      for update skip locked
    ), moved as (
      update run_stream set next_position = $4, chain_hash = $5 from head where run_stream.run_id = head.run_id
    )
    insert into event_batch (run_id, ${NAMES})
    select head.run_id, batch.* from head cross join (values ${rows.join(', ')}) as batch (${NAMES})`;
}
