import { zstdDecompressSync } from 'node:zlib';
import { headOf, PLATFORM_PRODUCER } from '#lib/event-log';
import { inTransaction, type Pool, type Queryable } from '#lib/storage';

/** A batch as it lies in the table, opened without the platform's own readers. */
export interface LoggedBatch {
  readonly firstPosition: number;
  readonly eventCount: number;
  readonly producer: string;
  readonly epoch: number;
  readonly sequence: number;
  readonly lines: readonly string[];
}

/** All batches of a run, by position. */
export async function batchesOf(db: Queryable, runId: string): Promise<LoggedBatch[]> {
  const batches: LoggedBatch[] = [];
  for (;;) {
    const { rows } = await db.query(
      `select first_position::float8 as "firstPosition", event_count as "eventCount", producer_id as producer,
         producer_epoch as epoch, batch_sequence as sequence, payload
       from event_batch where run_id = $1 and first_position > $2 order by first_position limit 500`,
      [runId, batches.at(-1)?.firstPosition ?? -1],
    );
    if (rows.length === 0) return batches;
    for (const { payload, ...batch } of rows) {
      const text = zstdDecompressSync(payload).toString();
      batches.push({ ...batch, lines: text.split('\n').filter(Boolean) });
    }
  }
}

/** The batches of a run and its head as of one moment: the platform itself may add an event at any time. */
export function snapshotOf(pool: Pool, runId: string): Promise<{ batches: LoggedBatch[]; head: number }> {
  return inTransaction(pool, async (client) => {
    await client.query('set transaction isolation level repeatable read');
    return { batches: await batchesOf(client, runId), head: await headOf(client, runId) };
  });
}

/** The lines that clients sent, each with its position. */
export function* linesOfClients(batches: readonly LoggedBatch[]): Generator<{ position: number; line: string }> {
  for (const { producer, firstPosition, lines } of batches) {
    if (producer === PLATFORM_PRODUCER) continue;
    for (const [i, line] of lines.entries()) yield { position: firstPosition + i, line };
  }
}
