import type { Queryable } from '#lib/storage';

/** What a short text signal says of a trajectory: its task type, its data set. */
export interface SaidTag {
  readonly trajectory: string;
  readonly name: string;
  readonly value: string;
}

/** Longer texts are prose, and no kind of thing. */
const MAX_LENGTH = 80;
/** Text signals that are looked at, the first by name. */
const MAX_NAMES = 16;

/** The short text signals of the trajectories that ended at `from` or later and before `asOf`, in one training step. */
export async function tagsOf(
  db: Queryable,
  runId: string,
  { trainingStep, from, asOf }: { readonly trainingStep: number; readonly from: number; readonly asOf: number },
): Promise<SaidTag[]> {
  const { rows } = await db.query(
    `with named as (
       select name from signal_summary
       where run_id = $1 and level = 'trajectory' and source = 'recorded' and rows > numbers
       order by name collate "C" limit $5
     )
     select trajectory.id as trajectory, said.key as name, said.value #>> '{}' as value
     from trajectory cross join lateral json_each(signals) as said
     where exists (select from named) and run_id = $1 and training_step = $2 and end_position >= $3 and end_position < $4
       and json_typeof(signals) = 'object' and said.key in (select name from named)
       and json_typeof(said.value) = 'string' and length(said.value #>> '{}') <= $6`,
    [runId, trainingStep, from, asOf, MAX_NAMES, MAX_LENGTH],
  );
  return rows;
}
