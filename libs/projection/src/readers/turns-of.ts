import { readEventsAt } from '#lib/event-log';
import type { RunEvent, Turn } from '#lib/protocol';
import type { Queryable } from '#lib/storage';

export interface RecordedTurn extends Turn {
  readonly index: number;
  /** of the event that holds it */
  readonly position: number;
}

export interface TurnPage {
  readonly first: number;
  /** index of the last turn seen; null or absent: from the beginning */
  readonly after?: number | null;
}

/** Turns of a trajectory with their texts, signals and tokens; none where no trajectory has the id. */
export async function turnsOf(
  db: Queryable,
  runId: string,
  trajectoryId: string,
  page: TurnPage,
): Promise<RecordedTurn[]> {
  return (await turnsOfEach(db, runId, [trajectoryId], page)).get(trajectoryId) ?? [];
}

/** The same page of several trajectories: two statements, however many they are. */
export async function turnsOfEach(
  db: Queryable,
  runId: string,
  trajectoryIds: readonly string[],
  { first, after }: TurnPage,
): Promise<Map<string, RecordedTurn[]>> {
  const from = (after ?? -1) + 1;
  const found = await locate(db, runId, trajectoryIds, from, first);
  const positions = found.flatMap(({ recordedPosition, turns }) =>
    recordedPosition === null ? turns.map(({ position }) => position) : [recordedPosition],
  );
  const events = await readEventsAt(db, runId, positions);
  return new Map(found.map((trajectory) => [trajectory.id, turnsIn(trajectory, events, from, first)]));
}

interface Located {
  readonly id: string;
  readonly recordedPosition: number | null;
  /** of the page, where they came one by one */
  readonly turns: readonly { readonly index: number; readonly position: number }[];
}

/** Where the turns of the page lie: those in a row, then those that came before their predecessors. */
async function locate(
  db: Queryable,
  runId: string,
  trajectoryIds: readonly string[],
  from: number,
  first: number,
): Promise<Located[]> {
  const { rows } = await db.query(
    `select id, recorded_position::float8 as "recordedPosition", coalesce(turns, '[]') as turns
     from (
       select distinct on (id) * from trajectory where run_id = $1 and id = any ($2::text[])
       order by id, superseded_at desc nulls first
     ) as current
     cross join lateral (
       select json_agg(json_build_object('index', index, 'position', position) order by index) as turns
       from (
         select index, position from (
           select $3::integer + nth - 1 as index, position
           from unnest(turn_positions[$3::integer + 1 : $3::integer + $4::integer]) with ordinality as u (position, nth)
           union all
           select key::integer, value::bigint from jsonb_each_text(early_turns) where key::integer >= $3::integer
         ) as located
         order by index limit $4::integer
       ) as page
     ) as paged`,
    [runId, trajectoryIds, from, first],
  );
  return rows;
}

function turnsIn(
  { recordedPosition, turns }: Located,
  events: ReadonlyMap<number, RunEvent>,
  from: number,
  first: number,
): RecordedTurn[] {
  if (recordedPosition === null)
    return turns.map(({ index, position }) => ({ ...turnOf(events, position), index, position }));
  return recordedTurns(events, recordedPosition)
    .slice(from, from + first)
    .map((turn, i) => ({ ...turn, index: from + i, position: recordedPosition }));
}

/** One turn of a trajectory that was recorded whole, or whose turns came one by one; null: it is not there. */
export function turnAt(
  events: ReadonlyMap<number, RunEvent>,
  { recordedPosition, position, index }: { recordedPosition: number | null; position: number | null; index: number },
): RecordedTurn | null {
  if (recordedPosition === null) return position === null ? null : { ...turnOf(events, position), index, position };
  const turn = recordedTurns(events, recordedPosition)[index] as Turn | undefined;
  return turn ? { ...turn, index, position: recordedPosition } : null;
}

function recordedTurns(events: ReadonlyMap<number, RunEvent>, position: number): readonly Turn[] {
  const event = events.get(position);
  return event?.type === 'trajectory.recorded' ? event.turns : [];
}

function turnOf(events: ReadonlyMap<number, RunEvent>, position: number): Turn {
  const event = events.get(position);
  if (event?.type !== 'turn.recorded') return {};
  const { type: _type, version: _version, at: _at, trajectory: _trajectory, group: _group, ...turn } = event;
  return turn;
}
