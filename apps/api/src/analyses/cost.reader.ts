import type { Confined } from '#lib/access';

export interface Cost {
  /** of the estimator in the analysis */
  readonly place: number;
  readonly device: string;
  readonly shards: number;
  readonly seconds: number;
}

/** What the results of each analysis took, by estimator and device. */
export async function costsOfAnalyses(db: Confined, analysisIds: readonly string[]): Promise<Cost[][]> {
  const rows = await db.query<Cost & { analysis: string }>(
    `select analysis_id as analysis, key.place::int - 1 as place, credit_result.device, count(*)::int as shards,
       sum(credit_result.seconds) as seconds
     from analysis_shard
     cross join lateral jsonb_array_elements_text(inputs -> 'results') with ordinality as key(value, place)
     join credit_result on credit_result.key = key.value
     where analysis_id = any ($1) and state = 'done'
     group by 1, 2, 3 order by 1, 2, 3`,
    [analysisIds],
  );
  const byAnalysis = Map.groupBy(rows, ({ analysis }) => analysis);
  return analysisIds.map((id) => byAnalysis.get(id) ?? []);
}
