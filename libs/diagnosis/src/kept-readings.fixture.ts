import type { Diagnosis } from '#lib/diagnostics';
import type { Queryable } from '#lib/storage';

/** What was last said of a run, as it is kept: by diagnostic, in the order of the report. */
export async function keptReadings(db: Queryable, runId: string): Promise<Record<string, Diagnosis>> {
  const { rows } = await db.query(
    `select reading, array(
       select steps from diagnostic_reading_part as part
       where part.run_id = diagnostic_reading.run_id and part.diagnostic = diagnostic_reading.diagnostic order by part.part
     ) as parts
     from diagnostic_reading where run_id = $1 order by place`,
    [runId],
  );
  return Object.fromEntries(rows.map(({ reading, parts }) => [reading.id, { ...reading, steps: parts.flat() }]));
}
