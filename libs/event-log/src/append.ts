import type { ClientBase, Pool } from 'pg';
import { admit } from './admit.js';
import type { Decision, SealedBatch, StoredBatch } from './batch.js';
import { knownBatches } from './known-batches.js';
import { erasedRun, lockRun } from './lock-run.js';
import { storeBatches, type End } from './store-batches.js';

const MAX_PRODUCERS = 64;

/** What a writer remembers of a run: where it ended, and the last batch of each producer that it has met there. */
export interface Tail extends End {
  readonly lastOf: ReadonlyMap<string, StoredBatch>;
}

export interface Appended {
  readonly decisions: readonly Decision[];
  /** null: nothing to remember */
  readonly tail: Tail | null;
}

/**
 * Appends to one run within the caller's transaction. A refused batch does not sink the others.
 *
 * @param remembered of the run; null: nothing
 */
export async function appendBatches(
  client: ClientBase,
  runId: string,
  batches: readonly SealedBatch[],
  remembered: Tail | null = null,
): Promise<Appended> {
  const run = await lockRun(client, runId);
  if (run.erasedPosition !== null) {
    return { decisions: batches.map(() => erasedRun(runId, run.erasedPosition!)), tail: null };
  }
  const known = await knownBatches(client, runId, batches);
  const { decisions, admitted } = admit(run.nextPosition, known, batches);
  const { nextPosition, chainHash } = run;
  const end = admitted.length > 0 ? await storeBatches(client, runId, admitted, run) : { nextPosition, chainHash };
  if (!end) throw new Error(`run ${runId} moved although it is locked`);
  // where somebody else writes too, what is remembered is not worth a try next time
  if (remembered && !remembered.chainHash.equals(chainHash)) return { decisions, tail: null };
  const before = remembered ? [...remembered.lastOf.values()] : [];
  return { decisions, tail: { ...end, lastOf: lastOf([...before, ...known, ...admitted]) } };
}

/**
 * The same in one statement instead of five, for what is new for certain unless somebody else has appended since: each
 * batch is the next one of a producer that is remembered.
 *
 * @returns null where that is not so: nothing was written, and the transaction has to find out
 */
export async function appendAfter(
  pool: Pool,
  runId: string,
  batches: readonly SealedBatch[],
  remembered: Tail,
): Promise<Appended | null> {
  if (!batches.every(({ producerId }) => remembered.lastOf.has(producerId))) return null;
  const known = [...remembered.lastOf.values()];
  const { decisions, admitted } = admit(remembered.nextPosition, known, batches);
  if (admitted.length < batches.length) return null;
  const end = await storeBatches(pool, runId, admitted, remembered);
  return end && { decisions, tail: { ...end, lastOf: lastOf([...known, ...admitted]) } };
}

/** @param batches of each producer in ascending order */
function lastOf(batches: readonly StoredBatch[]): Map<string, StoredBatch> {
  const last = new Map<string, StoredBatch>();
  for (const { producerId, epoch, sequence, sha256, eventCount, firstPosition } of batches) {
    last.delete(producerId); // a Map keeps the order of insertion: those who wrote last are kept
    last.set(producerId, { producerId, epoch, sequence, sha256, eventCount, firstPosition }); // without its payload
  }
  return new Map([...last].slice(-MAX_PRODUCERS));
}
