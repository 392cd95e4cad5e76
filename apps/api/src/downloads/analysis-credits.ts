import { creditPlaces, openCredits, type ShardAddress } from '#lib/analysis';
import type { ShardCredits } from '#lib/columnar';
import type { Queryable, SegmentStore } from '#lib/storage';

const PAGE = 200;

/** What a download of an analysis must know of it. */
export interface AnalysisOutline {
  readonly id: string;
  /** of its estimators, in their order */
  readonly labels: readonly string[];
  readonly shardCount: number;
  readonly doneCount: number;
}

export async function analysisOutline(db: Queryable, analysisId: string): Promise<AnalysisOutline | null> {
  const { rows } = await db.query(
    `select id, (select json_agg(e ->> 'label' order by nth) from jsonb_array_elements(estimators) with ordinality as u (e, nth)) as labels,
       (select count(*)::int from analysis_shard where analysis_id = id) as "shardCount",
       (select count(*)::int from analysis_shard where analysis_id = id and state = 'done') as "doneCount"
     from analysis where id = $1`,
    [analysisId],
  );
  return rows[0] ?? null;
}

/** The credit of each shard that is done, by run and training step, one in memory at a time. */
export async function* analysisCredits(
  db: Queryable,
  store: SegmentStore,
  analysisId: string,
): AsyncGenerator<ShardCredits> {
  for (let after: ShardAddress | null = null; ;) {
    const page: ShardAddress[] = await doneShards(db, analysisId, after);
    const places = await creditPlaces(db, page);
    for (const [i, { runId: run, trainingStep }] of page.entries()) {
      const credits = await openCredits(store, places[i]);
      yield { run, trainingStep, files: new Map(credits.map(({ label, file }) => [label, file])) };
    }
    if (page.length < PAGE) return;
    after = page[page.length - 1];
  }
}

async function doneShards(db: Queryable, analysisId: string, after: ShardAddress | null): Promise<ShardAddress[]> {
  const { rows } = await db.query(
    `select analysis_id as "analysisId", run_id as "runId", training_step as "trainingStep" from analysis_shard
     where analysis_id = $1 and state = 'done' and ($2::text is null or (run_id, training_step) > ($2, $3))
     order by run_id, training_step limit $4`,
    [analysisId, after?.runId ?? null, after?.trainingStep ?? null, PAGE],
  );
  return rows;
}
