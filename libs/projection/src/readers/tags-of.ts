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
  // Taken apart here: Postgres reads no JSON in which a text, or a name further in, holds half a surrogate pair.
  const { rows }: { rows: { id: string; signals: object | null; names: readonly string[] }[] } = await db.query(
    `with named as (
       select array_agg(name) as names from (
         select name from signal_summary
         where run_id = $1 and level = 'trajectory' and source = 'recorded' and rows > numbers
         order by name collate "C" limit $5
       ) as first
     )
     select trajectory.id, signals, names from trajectory cross join named
     where names is not null and run_id = $1 and training_step = $2 and end_position >= $3 and end_position < $4`,
    [runId, trainingStep, from, asOf, MAX_NAMES],
  );
  return rows.flatMap(({ id, signals, names }) =>
    Object.entries(signals ?? {}).flatMap(([name, value]) =>
      names.includes(name) && typeof value === 'string' && value.length <= MAX_LENGTH
        ? [{ trajectory: id, name, value }]
        : [],
    ),
  );
}
