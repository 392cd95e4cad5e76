import type { Confined } from '#lib/access';
import { readDiagnosis } from '#lib/diagnosis';
import { planOf, type Diagnosis } from '#lib/diagnostics';
import { queryable } from '../graphql/queryable.js';

type KeptReading = Omit<Diagnosis, 'steps'>;

/** What the last readings of each run advise. */
export async function keptPlans(db: Confined, runIds: readonly string[]) {
  const rows = await db.query<{ run: string; asOf: number; pendingSteps: number; reading: KeptReading }>(
    `select run_id as run, as_of::float8 as "asOf", pending_steps as "pendingSteps", reading
     from diagnostic_reading join diagnosis using (run_id) where run_id = any ($1) order by place`,
    [runIds],
  );
  const byRun = Map.groupBy(rows, ({ run }) => run);
  return runIds.map((id) => {
    const kept = byRun.get(id) ?? [];
    return plan(
      id,
      kept.map(({ reading }) => reading),
      kept[0]?.asOf ?? null,
      kept[0]?.pendingSteps ?? 0,
    );
  });
}

/** What a run would have been advised as of an earlier position, from what is measured of it. */
export async function planAsOf(db: Confined, run: string, asOf: number) {
  const { readings, pendingSteps } = await readDiagnosis(queryable(db), run, asOf);
  return plan(run, readings, asOf, pendingSteps);
}

function plan(run: string, readings: readonly KeptReading[], asOf: number | null, pendingSteps: number) {
  const { health, restarts, ...advice } = planOf(readings);
  return {
    asOf,
    pendingSteps,
    health: health.lines,
    plateauCauses: health.plateauCauses,
    restarts: restarts.map((restart) => ({ run, ...restart })),
    ...advice,
  };
}
