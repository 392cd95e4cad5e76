import { openCredit, type CreditFile } from '#lib/columnar';
import type { Queryable, SegmentStore } from '#lib/storage';
import type { ShardAddress } from './plan-analysis.js';
import type { ChosenEstimator } from './request.js';
import { creditFileKey } from './shard-task.js';

/** The credit of one estimator in one shard; null where a signal was missing or the shard is not done. */
export interface ShardCredit {
  readonly label: string;
  readonly file: CreditFile | null;
}

/** Where the credit of one estimator in one shard lies in the segment store; null: there is none. */
export interface CreditPlace {
  readonly label: string;
  readonly fileKey: string | null;
}

/** Reads the files of one shard. @param allocate gives the memory that they are read into */
export function openCredits(
  store: SegmentStore,
  places: readonly CreditPlace[],
  allocate?: (bytes: number) => Uint8Array,
): Promise<ShardCredit[]> {
  return Promise.all(
    places.map(async ({ label, fileKey }) => ({
      label,
      file: fileKey === null ? null : openCredit(await store.get(fileKey, allocate)),
    })),
  );
}

interface PlacesRow {
  readonly nth: number;
  readonly estimators: readonly ChosenEstimator[];
  readonly results: readonly string[];
  readonly known: readonly string[] | null;
}

/** In the order of the shards, by one statement; of a shard that is not done, or not seen, nothing is known. */
export async function creditPlaces(db: Queryable, shards: readonly ShardAddress[]): Promise<CreditPlace[][]> {
  const { rows } = await db.query(
    `select nth::int, analysis.estimators, shard.inputs -> 'results' as results,
       (select json_agg(key) from credit_result
        where outcome = 'credit' and key in (select jsonb_array_elements_text(shard.inputs -> 'results'))) as known
     from unnest($1::text[], $2::text[], $3::int[]) with ordinality as wanted (analysis_id, run_id, training_step, nth)
     join analysis_shard shard using (analysis_id, run_id, training_step) join analysis on analysis.id = analysis_id
     where shard.state = 'done'`,
    [
      shards.map(({ analysisId }) => analysisId),
      shards.map(({ runId }) => runId),
      shards.map(({ trainingStep }) => trainingStep),
    ],
  );
  const byPlace = new Map(rows.map((row: PlacesRow) => [row.nth, placesOf(row)]));
  return shards.map((_, i) => byPlace.get(i + 1) ?? []);
}

function placesOf({ estimators, results, known }: PlacesRow): CreditPlace[] {
  const there = new Set(known);
  return estimators.map(({ label }, i) => ({
    label,
    fileKey: there.has(results[i]) ? creditFileKey(results[i]) : null,
  }));
}
