import type { ClientBase } from 'pg';
import { admit } from './admit.js';
import type { Decision, SealedBatch } from './batch.js';
import { knownBatches } from './known-batches.js';
import { erasedRun, lockRun } from './lock-run.js';
import { storeBatches } from './store-batches.js';

/** Appends to one run within the caller's transaction. A refused batch does not sink the others. */
export async function appendBatches(
  client: ClientBase,
  runId: string,
  batches: readonly SealedBatch[],
): Promise<Decision[]> {
  const run = await lockRun(client, runId);
  if (run.erasedPosition !== null) return batches.map(() => erasedRun(runId, run.erasedPosition!));
  const known = await knownBatches(client, runId, batches);
  const { decisions, admitted, nextPosition } = admit(run.nextPosition, known, batches);
  if (admitted.length > 0) await storeBatches(client, runId, admitted, nextPosition, run.chainHash);
  return decisions;
}
