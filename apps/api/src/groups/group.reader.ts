import type { Confined } from '#lib/access';
import type { Key, Order } from '../graphql/cursor.js';
import { meanOf } from '../graphql/mean-of.js';
import type { Group } from './group.object.js';

export interface GroupFilter {
  readonly trainingStep: number | null;
}

export const AS_GROUPS_BEGAN: Order<Group> = {
  parts: ['integer', 'position'],
  keyOf: ({ trainingStep, firstPosition }) => [trainingStep, firstPosition],
};

/** Of each run, by training step, in the order in which they began. */
export async function groups(
  db: Confined,
  runIds: readonly string[],
  limit: number,
  after: Key | null,
  { trainingStep }: GroupFilter,
) {
  const rows = await db.query<Group & { of: string; outcomeSum: number; outcomeCount: number }>(
    `select parent.id as "of", g.* from unnest($1::text[]) as parent(id)
     cross join lateral (
       select run_id as run, name, training_step as "trainingStep", first_position::float8 as "firstPosition",
         trajectory_count as "trajectoryCount", finished_count as "finishedCount", turn_count::float8 as "turnCount",
         judged_count as "judgedCount", success_count as "successCount",
         outcome_min as "outcomeMin", outcome_max as "outcomeMax", outcome_sum as "outcomeSum", outcome_count as "outcomeCount"
       from trajectory_group
       where run_id = parent.id and superseded_at is null and ($3::integer is null or training_step = $3)
         and ($4::integer is null or (training_step, first_position) > ($4, $5::bigint))
       order by training_step, first_position limit $2
     ) as g`,
    [runIds, limit, trainingStep, ...(after ?? [null, null])],
  );
  return rows.map((row) => ({ ...row, meanOutcomeReward: meanOf(row.outcomeSum, row.outcomeCount) }));
}
