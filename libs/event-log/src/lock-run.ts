import { RecreditError } from '#lib/kernel';
import type { ClientBase } from 'pg';

export interface Head {
  readonly nextPosition: number;
  readonly chainHash: Buffer;
  /** of run.erased: nothing comes after it; null: not erased */
  readonly erasedPosition: number | null;
}

/** What whoever would append to an erased run is told. */
export function erasedRun(runId: string, position: number): RecreditError {
  return new RecreditError('run.erased', `run ${runId} was erased at position ${position}: it takes no more events`, {
    run: runId,
    position,
  });
}

/** Takes the row lock that orders the run, making the row on first use. Held until the transaction ends. */
export async function lockRun(client: ClientBase, runId: string): Promise<Head> {
  const head = await lockHead(client, runId);
  if (head) return head;
  await client.query(
    `insert into run_stream (run_id) select id from run where id = $1 on conflict (run_id) do nothing`,
    [runId],
  );
  const made = await lockHead(client, runId);
  if (!made) throw new RecreditError('run.unknown', `no run has the id ${runId}`);
  return made;
}

async function lockHead(client: ClientBase, runId: string): Promise<Head | undefined> {
  const { rows } = await client.query<Head>({
    name: 'event-log-lock-run',
    text: `select next_position::float8 as "nextPosition", chain_hash as "chainHash",
             erased_position::float8 as "erasedPosition"
           from run_stream where run_id = $1 for update`,
    values: [runId],
  });
  return rows[0];
}
