import { RecreditError, type ErrorCode } from '#lib/kernel';
import type { AdmittedBatch, Decision, SealedBatch, StoredBatch } from './batch.js';

/**
 * Decides, in order, what becomes of batches that want to join a run: new, here already, or refused.
 *
 * @param known what is stored under the same sequences, and each producer's last batch, by ascending sequence
 */
export function admit(nextPosition: number, known: readonly StoredBatch[], batches: readonly SealedBatch[]) {
  const stored = new Map(known.map((batch) => [keyOf(batch), batch]));
  const last = new Map(known.map((batch) => [batch.producerId, batch]));
  const admitted: AdmittedBatch[] = [];

  const decisions = batches.map((batch): Decision => {
    const twin = stored.get(keyOf(batch));
    const refusal = refuse(batch, twin, last.get(batch.producerId));
    if (refusal) return refusal;
    if (twin) return { firstPosition: twin.firstPosition, duplicate: true };

    const placed = { ...batch, firstPosition: nextPosition };
    nextPosition += batch.eventCount;
    stored.set(keyOf(batch), placed);
    last.set(batch.producerId, placed);
    admitted.push(placed);
    return { firstPosition: placed.firstPosition, duplicate: false };
  });
  return { decisions, admitted, nextPosition };
}

function refuse(batch: SealedBatch, twin?: StoredBatch, last?: StoredBatch): RecreditError | null {
  const { producerId, epoch, sequence, sha256 } = batch;
  const expected = last ? last.sequence + 1 : 0;
  const error = (code: ErrorCode, message: string, details = {}) => new RecreditError(code, message, details);

  if (last && epoch < last.epoch) {
    return error(
      'producer.fenced',
      `${producerId} writes in epoch ${last.epoch} now, this batch is of epoch ${epoch}`,
      {
        epoch: last.epoch,
      },
    );
  }
  if (twin && !twin.sha256.equals(sha256)) {
    return error('batch.conflicting', `batch ${sequence} of ${producerId} had other content`, {
      firstPosition: twin.firstPosition,
      // an importer that reads a longer version of its file cuts there too
      eventCount: twin.eventCount,
    });
  }
  if (twin || sequence === expected) return null;
  return error('sequence.unexpected', `expected batch ${expected} of ${producerId}, got ${sequence}`, { expected });
}

/** The sequence comes first: no producer id can imitate the separator. */
function keyOf({ producerId, sequence }: StoredBatch | SealedBatch): string {
  return `${sequence} ${producerId}`;
}
