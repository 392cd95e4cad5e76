import { readEventsAt } from '#lib/event-log';
import type { Queryable } from '#lib/storage';
import { turnAt, type RecordedTurn } from './turns-of.js';

/** The address of a turn in a run. */
export interface TurnPlace {
  readonly trajectory: string;
  readonly turn: number;
}

interface Located {
  readonly nth: number;
  readonly trainingStep: number;
  readonly recordedPosition: number | null;
  readonly position: number | null;
}

/**
 * Single turns of any trajectories of a run: two statements, however many they are.
 *
 * @returns [places] null: there is no such turn
 */
export async function turnsAt(
  db: Queryable,
  runId: string,
  places: readonly TurnPlace[],
): Promise<((RecordedTurn & { readonly trainingStep: number }) | null)[]> {
  const { rows } = await db.query(
    `select wanted.nth::integer - 1 as nth, trajectory.training_step as "trainingStep",
       trajectory.recorded_position::float8 as "recordedPosition",
       coalesce(turn_positions[wanted.turn + 1], (early_turns ->> wanted.turn::text)::bigint)::float8 as position
     from unnest($2::text[], $3::integer[]) with ordinality as wanted(id, turn, nth)
     cross join lateral (
       select * from trajectory where run_id = $1 and trajectory.id = wanted.id
       order by superseded_at desc nulls first limit 1
     ) as trajectory`,
    [runId, places.map(({ trajectory }) => trajectory), places.map(({ turn }) => turn)],
  );
  const found = rows as Located[];
  const positions = found.flatMap(({ recordedPosition, position }) => recordedPosition ?? position ?? []);
  const events = await readEventsAt(db, runId, positions);
  const turns = new Map(
    found.map(({ nth, trainingStep, recordedPosition, position }) => {
      const { turn: index } = places[nth];
      const recorded = turnAt(events, { recordedPosition, position, index });
      return [nth, recorded && { ...recorded, trainingStep }] as const;
    }),
  );
  return places.map((_, nth) => turns.get(nth) ?? null);
}
