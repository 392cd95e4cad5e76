import type { Confined } from '#lib/access';
import type { Key, Order } from '../graphql/cursor.js';
import type { Trajectory } from '../trajectories/trajectory.object.js';
import type { Annotation } from './annotation.object.js';

/** Order of their saying. */
export const AS_ANNOTATED: Order<Annotation> = {
  parts: ['position', 'integer'],
  keyOf: ({ position, item }) => [position, item],
};

/** A trajectory, as one word. */
export const trajectoryAddress = ({ run, id, firstPosition }: Trajectory) => JSON.stringify([run, id, firstPosition]);

/** Of each trajectory, in the order in which they were said; without what a rewind superseded. */
export function annotationsOfTrajectories(
  db: Confined,
  addresses: readonly string[],
  limit: number,
  after: Key | null,
) {
  return db.query<Annotation & { of: string }>(
    `select found.*, wanted.address as "of"
     from (select address, address::jsonb ->> 0 as run, address::jsonb ->> 1 as id, (address::jsonb ->> 2)::bigint as first
           from unnest($1::text[]) as u(address)) as wanted
     cross join lateral (
       select position::float8 as position, item, turn, annotator, attempt::float8 as attempt, signals, rationale,
         case when status = 'failed' then coalesce(failure_reason, 'failed') end as failure, recorded_at as "recordedAt"
       from annotation
       where run_id = wanted.run and trajectory_id = wanted.id and position >= wanted.first and superseded_at is null
         and ($3::bigint is null or (position, item) > ($3, $4::integer))
       order by position, item limit $2
     ) as found`,
    [addresses, limit, ...(after ?? [null, null])],
  );
}
