import type { Confined } from '#lib/access';
import { textKey } from '#lib/protocol';
import { turnsAt, turnsOfEach, type RecordedTurn, type TurnPlace } from '#lib/projection';
import type { Key, Order } from '../graphql/cursor.js';
import type { Group } from '../groups/group.object.js';
import { queryable } from '../graphql/queryable.js';
import type { Trajectory, TrajectoryFilter, Turn } from './trajectory.object.js';

const COLUMNS = `run_id as run, first_position::float8 as "firstPosition", id, group_name as "group",
  training_step as "trainingStep", state, outcome_reward as "outcomeReward", success, parent,
  coalesce(signals, '{}') as signals, turn_count as "turnCount", end_position::float8 as "endPosition", problems`;

export const AS_TRAJECTORIES_BEGAN: Order<Trajectory> = {
  parts: ['integer', 'position'],
  keyOf: ({ trainingStep, firstPosition }) => [trainingStep, firstPosition],
};
export const BY_INDEX: Order<Turn> = { parts: ['integer'], keyOf: ({ index }) => [index] };

/** Of each run, by training step, in the order in which they began. */
export function trajectories(
  db: Confined,
  runIds: readonly string[],
  limit: number,
  after: Key | null,
  { trainingStep, group, success, state }: TrajectoryFilter,
) {
  return db.query<Trajectory & { of: string }>(
    `select trajectory.*, run.id as "of" from unnest($1::text[]) as run(id)
     cross join lateral (
       select ${COLUMNS} from trajectory
       where run_id = run.id and superseded_at is null
         and ($3::integer is null or training_step = $3) and ($4::text is null or group_name = $4)
         and ($5::boolean is null or success = $5) and ($6::text is null or state = $6)
         and ($7::integer is null or (training_step, first_position) > ($7, $8::bigint))
       order by training_step, first_position limit $2
     ) as trajectory`,
    [runIds, limit, trainingStep ?? null, group ?? null, success ?? null, state ?? null, ...(after ?? [null, null])],
  );
}

/** A group, as one word. */
export const groupAddress = ({ run, trainingStep, name }: Group) => JSON.stringify([run, trainingStep, name]);

/** Of each group, in the order in which they began. */
export function trajectoriesOfGroups(db: Confined, addresses: readonly string[], limit: number, after: Key | null) {
  return db.query<Trajectory & { of: string }>(
    `select trajectory.*, wanted.address as "of"
     from (select address, address::jsonb ->> 0 as run, (address::jsonb ->> 1)::integer as step, address::jsonb ->> 2 as name
           from unnest($1::text[]) as u(address)) as wanted
     cross join lateral (
       select ${COLUMNS} from trajectory
       where run_id = wanted.run and training_step = wanted.step and group_name = wanted.name and superseded_at is null
         and ($3::bigint is null or first_position > $3)
       order by first_position limit $2
     ) as trajectory`,
    [addresses, limit, after?.[1] ?? null],
  );
}

/** The current one of that id; where a rewind superseded it, the last. */
export async function trajectoryById(db: Confined, runId: string, id: string): Promise<Trajectory | null> {
  const [trajectory] = await db.query<Trajectory>(
    `select ${COLUMNS} from trajectory where run_id = $1 and id = $2 order by superseded_at desc nulls first limit 1`,
    [runId, id],
  );
  return trajectory ?? null;
}

/** The same page of turns of many trajectories of one run, from the log. */
export async function turnPages(
  db: Confined,
  trajectoriesOfRun: readonly Trajectory[],
  limit: number,
  after: number | null,
): Promise<Map<string, Turn[]>> {
  const [{ run }] = trajectoriesOfRun;
  const ids = trajectoriesOfRun.map(({ id }) => id);
  const found = await turnsOfEach(queryable(db), run, ids, { first: limit, after });
  return new Map(
    trajectoriesOfRun.map((trajectory) => [
      trajectory.id,
      (found.get(trajectory.id) ?? []).map((turn) => turnOf(trajectory, turn)),
    ]),
  );
}

/** Single turns of one run, from the log. @returns [places] null: there is no such turn */
export async function turnsOfPlaces(db: Confined, run: string, places: readonly TurnPlace[]): Promise<(Turn | null)[]> {
  const found = await turnsAt(queryable(db), run, places);
  return found.map(
    (turn, i) => turn && turnOf({ run, id: places[i].trajectory, trainingStep: turn.trainingStep }, turn),
  );
}

function turnOf({ run, id, trainingStep }: Pick<Trajectory, 'run' | 'id' | 'trainingStep'>, turn: RecordedTurn): Turn {
  const { index, state, action, reward, signals, tokens } = turn;
  return {
    run,
    trajectory: id,
    trainingStep,
    index,
    state: state === undefined || state === null ? '' : textKey(state),
    action: action === undefined || action === null ? '' : textKey(action),
    reward: reward ?? null,
    signals: signals ?? {},
    tokens: tokens ?? null,
  };
}
