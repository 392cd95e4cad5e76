import type { ClientBase } from 'pg';
import type { AdmittedBatch } from './batch.js';
import { chain } from './chain.js';

const COLUMNS = 10;

/**
 * Writes what was admitted and moves the head of the run, in one statement.
 *
 * @param chainHash of the batch before the first of these
 */
export async function storeBatches(
  client: ClientBase,
  runId: string,
  batches: readonly AdmittedBatch[],
  nextPosition: number,
  chainHash: Buffer,
): Promise<void> {
  const values: unknown[] = [];
  for (const batch of batches) {
    chainHash = chain(chainHash, batch.sha256);
    const { firstPosition, eventCount, producerId, epoch, sequence, codec, payload, size, sha256 } = batch;
    // a single parameter each: the driver sends a Buffer as it is, and an array of Buffers as hexadecimal text
    values.push(firstPosition, eventCount, producerId, epoch, sequence, codec, payload, size, sha256, chainHash);
  }
  await client.query({
    name: `event-log-store-${batches.length}`,
    text: storing(batches.length),
    values: [runId, nextPosition, chainHash, ...values],
  });
}

/** @param count at most 6,553: Postgres takes 65,535 parameters */
function storing(count: number): string {
  const rows = Array.from({ length: count }, (_, row) => {
    const columns = Array.from({ length: COLUMNS }, (_, column) => `$${4 + row * COLUMNS + column}`);
    return `($1, ${columns.join(', ')})`;
  });
  return `with head as (update run_stream set next_position = $2, chain_hash = $3 where run_id = $1)
    insert into event_batch (run_id, first_position, event_count, producer_id, producer_epoch, batch_sequence,
      codec, payload, payload_size, payload_sha256, chain_hash)
    values ${rows.join(', ')}`;
}
