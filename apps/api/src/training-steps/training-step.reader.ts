import type { Confined } from '#lib/access';
import type { Key, Order } from '../graphql/cursor.js';
import { meanOf } from '../graphql/mean-of.js';
import type { TrainingStep } from './training-step.object.js';

export const BY_STEP: Order<TrainingStep> = { parts: ['integer'], keyOf: ({ trainingStep }) => [trainingStep] };

/** Of each run, ascending; what a rewind superseded is left out. */
export async function trainingSteps(db: Confined, runIds: readonly string[], limit: number, after: Key | null) {
  const rows = await db.query<TrainingStep & { of: string; outcomeSum: number; outcomeCount: number }>(
    `select parent.id as "of", step.* from unnest($1::text[]) as parent(id)
     cross join lateral (
       select training_step as "trainingStep", trajectory_count as "trajectoryCount", finished_count as "finishedCount",
         group_count as "groupCount", turn_count::float8 as "turnCount", recorded_at as "recordedAt",
         success_count::float8 / nullif(judged_count, 0) as "successRate",
         outcome_sum as "outcomeSum", outcome_count as "outcomeCount",
         coalesce((select json_object_agg(name, value order by name, position) from metric_point
           where metric_point.run_id = training_step.run_id and metric_point.superseded_at is null
             and metric_point.training_step = training_step.training_step), '{}') as metrics
       from training_step
       where run_id = parent.id and superseded_at is null and ($3::integer is null or training_step > $3)
       order by training_step limit $2
     ) as step`,
    [runIds, limit, after?.[0] ?? null],
  );
  return rows.map((row) => ({ ...row, meanOutcomeReward: meanOf(row.outcomeSum, row.outcomeCount) }));
}
