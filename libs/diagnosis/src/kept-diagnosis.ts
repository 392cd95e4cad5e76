import type { Diagnosis } from '#lib/diagnostics';
import { inTransaction, type Pool } from '#lib/storage';

/** What the diagnostics say of a run as of a position. */
export interface RunDiagnosis {
  readonly asOf: number;
  /** of the settings that it was asked with */
  readonly settingsVersion: number;
  /** in the order of the catalogue */
  readonly readings: readonly Diagnosis[];
  /** training steps that are not measured yet, and are not spoken of */
  readonly pendingSteps: number;
}

/**
 * Keeps the last word on a run; an older one does not replace it.
 *
 * @param seconds how long it took to read, once everything was measured
 */
export async function keepDiagnosis(
  pool: Pool,
  runId: string,
  { asOf, settingsVersion, readings, pendingSteps }: RunDiagnosis,
  seconds: number,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rowCount } = await client.query(
      `insert into diagnosis (run_id, as_of, pending_steps, seconds, settings_version) values ($1, $2, $3, $4, $5)
       on conflict (run_id) do update set as_of = excluded.as_of, pending_steps = excluded.pending_steps,
         seconds = excluded.seconds, settings_version = excluded.settings_version, made_at = now()
       where diagnosis.as_of <= excluded.as_of and diagnosis.settings_version <= excluded.settings_version`,
      [runId, asOf, pendingSteps, seconds, settingsVersion],
    );
    if (rowCount === 0) return;
    await client.query('delete from diagnostic_reading where run_id = $1', [runId]);
    await client.query(
      `insert into diagnostic_reading (run_id, diagnostic, place, reading, steps)
       select $1, diagnostic, place, reading, steps
       from unnest($2::text[], $3::jsonb[], $4::jsonb[]) with ordinality as r (diagnostic, reading, steps, place)`,
      [
        runId,
        readings.map(({ id }) => id),
        readings.map(({ steps: _steps, ...reading }) => JSON.stringify(reading)),
        readings.map(({ steps }) => JSON.stringify(steps)),
      ],
    );
  });
}
