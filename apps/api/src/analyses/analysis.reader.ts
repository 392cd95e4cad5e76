import type { Confined } from '#lib/access';
import type { Comparison as StoredComparison } from '#lib/diagnostics';
import type { Key, Order } from '../graphql/cursor.js';
import type { Analysis, AnalysisRun, EstimatorFailure, MissingSignal, Shard, ShardState } from './analysis.object.js';
import type { Comparison } from './comparison.object.js';

const COLUMNS = `analysis.id, analysis.project_id as project, analysis.state, analysis.failure,
  coalesce(analysis.state_identity, '{"by": "lastObservation", "excludeGeneric": false}') as "stateIdentity",
  analysis.estimators as chosen, analysis.created_at as "createdAt", analysis.finished_at as "finishedAt"`;

export const NEWEST_ANALYSIS: Order<Analysis> = {
  parts: ['instant', 'text'],
  keyOf: ({ createdAt, id }) => [createdAt.toISOString(), id],
};
export const BY_RUN_AND_STEP: Order<Shard> = {
  parts: ['text', 'integer'],
  keyOf: ({ run, trainingStep }) => [run, trainingStep],
};

export async function analysisById(db: Confined, id: string): Promise<Analysis | null> {
  const [analysis] = await db.query<Analysis>(`select ${COLUMNS} from analysis where id = $1`, [id]);
  return analysis ?? null;
}

/** Of each run, newest first. */
export function analysesOfRuns(db: Confined, runIds: readonly string[], limit: number, after: Key | null) {
  return db.query<Analysis & { of: string }>(
    `select run.id as "of", found.* from unnest($1::text[]) as run(id)
     cross join lateral (
       select ${COLUMNS} from analysis_run join analysis on analysis.id = analysis_run.analysis_id
       where analysis_run.run_id = run.id
         and ($3::timestamptz is null or (analysis.created_at, analysis.id) < ($3, $4))
       order by analysis.created_at desc, analysis.id desc limit $2
     ) as found`,
    [runIds, limit, ...(after ?? [null, null])],
  );
}

export async function analysisRuns(db: Confined, analysisIds: readonly string[]): Promise<AnalysisRun[][]> {
  const rows = await db.query<AnalysisRun & { analysis: string }>(
    `select analysis_id as analysis, run_id as run, as_of::float8 as "asOf" from analysis_run
     where analysis_id = any ($1) order by run_id`,
    [analysisIds],
  );
  const byAnalysis = Map.groupBy(rows, ({ analysis }) => analysis);
  return analysisIds.map((id) => byAnalysis.get(id) ?? []);
}

export interface ShardFilter {
  readonly state: ShardState | null;
}

/** Of each analysis, by run and training step. */
export function shards(
  db: Confined,
  analysisIds: readonly string[],
  limit: number,
  after: Key | null,
  { state }: ShardFilter,
) {
  return db.query<Shard & { of: string }>(
    `select analysis.id as "of", shard.* from unnest($1::text[]) as analysis(id)
     cross join lateral (
       select run_id as run, training_step as "trainingStep", state, cached, trajectory_count as "trajectoryCount", tries,
         reason, device, seconds
       from analysis_shard
       where analysis_id = analysis.id and ($3::text is null or state = $3)
         and ($4::text is null or (run_id, training_step) > ($4, $5))
       order by run_id, training_step limit $2
     ) as shard`,
    [analysisIds, limit, state, ...(after ?? [null, null])],
  );
}

/** What each estimator of the analysis lacked, what it warned of and why it failed, over all shards. */
export interface EstimatorNotes {
  readonly place: number;
  readonly missing: readonly Omit<MissingSignal, 'recordedAs'>[];
  readonly warnings: readonly string[];
  readonly failures: readonly EstimatorFailure[];
}

export async function estimatorNotes(db: Confined, analysisIds: readonly string[]): Promise<EstimatorNotes[][]> {
  const rows = await db.query<EstimatorNotes & { analysis: string }>(
    `with result as (
       select analysis_id, key.place::int - 1 as place, credit_result.missing, credit_result.warnings,
         credit_result.reason
       from analysis_shard
       cross join lateral jsonb_array_elements_text(inputs -> 'results') with ordinality as key(value, place)
       join credit_result on credit_result.key = key.value
       where analysis_id = any ($1)
     ), lacking as (
       select analysis_id, place, item ->> 'path' as path, sum((item ->> 'rows')::float8) as rows, sum((item ->> 'of')::float8) as "of"
       from result cross join lateral jsonb_array_elements(coalesce(missing, '[]')) as item group by 1, 2, 3
     )
     select analysis_id as analysis, place,
       coalesce((select json_agg(json_build_object('path', path, 'rows', rows, 'of', "of") order by path)
         from lacking where (lacking.analysis_id, lacking.place) = (result.analysis_id, result.place)), '[]') as missing,
       coalesce((select json_agg(distinct warning) from result other, jsonb_array_elements_text(other.warnings) as warning
         where (other.analysis_id, other.place) = (result.analysis_id, result.place)), '[]') as warnings,
       coalesce((select json_agg(json_build_object('reason', reason, 'shards', shards) order by shards desc, reason)
         from (select other.reason, count(*) as shards from result other where other.reason is not null
           and (other.analysis_id, other.place) = (result.analysis_id, result.place) group by other.reason) as failure), '[]') as failures
     from result group by analysis_id, place`,
    [analysisIds],
  );
  const byAnalysis = Map.groupBy(rows, ({ analysis }) => analysis);
  return analysisIds.map((id) => byAnalysis.get(id) ?? []);
}

/** The comparisons as they were stored when the analyses ended. */
export async function storedComparisons(db: Confined, ids: readonly string[]): Promise<(StoredComparison | null)[]> {
  const rows = await db.query<{ id: string; comparison: StoredComparison | null }>(
    `select id, comparison from analysis where id = any ($1)`,
    [ids],
  );
  const byId = new Map(rows.map(({ id, comparison }) => [id, comparison]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** A comparison as the API shows it: estimators in the order of the request, everything else under `detail`. */
export function shownComparison({ chosen }: Analysis, stored: StoredComparison): Comparison {
  const place = new Map(chosen.map(({ label }, i) => [label, i]));
  const inOrder = <Item>(items: readonly Item[], labelOf: (item: Item) => string) =>
    items
      .toSorted((a, b) => (place.get(labelOf(a)) ?? 0) - (place.get(labelOf(b)) ?? 0))
      .map((item) => ({ ...item, detail: item }));
  const estimators = inOrder(stored.estimators, (profile) => profile.id);
  const truths = inOrder(stored.truths, (truth) => truth.estimator);
  // what comparisons that are older than it do not have
  return {
    ...stored,
    estimators: estimators.map((row) => ({ ...row, stability: row.stability ?? null, gradient: row.gradient ?? null })),
    pairs: stored.pairs.map((pair) => ({ ...pair, gradientCosine: pair.gradientCosine ?? null, detail: pair })),
    truths: truths.map((row) => ({ ...row, gradientCosine: row.gradientCosine ?? null })),
    tags: stored.tags ?? [],
    annotators: stored.annotators ?? [],
    detail: stored,
  };
}
