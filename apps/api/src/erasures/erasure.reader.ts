import type { Confined } from '#lib/access';
import { erasuresOf, type Erasure } from '#lib/event-log';
import { queryable } from '../graphql/queryable.js';

/** In the order of the runs; null where a run is not erased. */
export async function erasuresOfRuns(db: Confined, runIds: readonly string[]): Promise<(Erasure | null)[]> {
  const erasures = new Map((await erasuresOf(queryable(db), runIds)).map((erasure) => [erasure.runId, erasure]));
  return runIds.map((id) => erasures.get(id) ?? null);
}
