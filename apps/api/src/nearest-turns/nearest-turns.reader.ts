import type { Confined } from '#lib/access';
import type { NearestResult } from '#lib/diagnosis';
import type { NearestTurns } from './nearest-turns.object.js';

/** One search, and what it found so far. */
export async function nearestTurnsById(db: Confined, id: string): Promise<NearestTurns | null> {
  const [row] = await db.query<NearestTurns & { result: NearestResult | null }>(
    `select id, run_id as run, trajectory_id as trajectory, turn as index, k, within, as_of::float8 as "asOf", state,
       failure, result ->> 'by' as by, result, created_at as "createdAt", finished_at as "finishedAt" from nearest_turns where id = $1`,
    [id],
  );
  if (!row) return null;
  const { result, ...asked } = row;
  const turnsOf = (turns: NearestResult['failures']) =>
    turns.map(({ turn: index, ...turn }) => ({ ...turn, run: asked.run, index }));
  return {
    ...asked,
    failures: turnsOf(result?.failures ?? []),
    successes: turnsOf(result?.successes ?? []),
    compared: result?.compared ?? null,
    leftOut: result?.leftOut ?? null,
    devices: [...(result?.devices ?? [])],
    warnings: [...(result?.warnings ?? [])],
  };
}
