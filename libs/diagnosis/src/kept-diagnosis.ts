import { hash } from 'node:crypto';
import type { Diagnosis } from '#lib/diagnostics';
import { inTransaction, type Pool, type PoolClient } from '#lib/storage';

/** More of them are more rows, fewer are more to write of a run that grows by a step. */
const STEPS_OF_PART = 64;

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
    await keepReadings(client, runId, readings);
    await keepSteps(client, runId, readings);
  });
}

/** All but what they say of each training step. */
async function keepReadings(client: PoolClient, runId: string, readings: readonly Diagnosis[]): Promise<void> {
  const ids = readings.map(({ id }) => id);
  await client.query('delete from diagnostic_reading where run_id = $1 and diagnostic <> all ($2)', [runId, ids]);
  await client.query(
    `insert into diagnostic_reading (run_id, diagnostic, place, reading)
     select $1, diagnostic, place, reading
     from unnest($2::text[], $3::jsonb[]) with ordinality as r (diagnostic, reading, place)
     on conflict (run_id, diagnostic) do update set place = excluded.place, reading = excluded.reading`,
    [runId, ids, readings.map(({ steps: _steps, ...reading }) => JSON.stringify(reading))],
  );
}

/** Writes the parts that are not there as they are: a step more changes 0.2 of the 5.7 MB of JSON of 1,000 steps. */
async function keepSteps(client: PoolClient, runId: string, readings: readonly Diagnosis[]): Promise<void> {
  const { rows } = await client.query(
    `select diagnostic, part, encode(sha256, 'hex') as sha256 from diagnostic_reading_part where run_id = $1`,
    [runId],
  );
  const kept = new Map((rows as KeptPart[]).map(({ diagnostic, part, sha256 }) => [`${diagnostic} ${part}`, sha256]));
  const parts = readings.flatMap(({ id, steps }) => partsOf(steps).map((json, part) => ({ id, part, json })));
  const changed = parts.filter(({ id, part, json }) => kept.get(`${id} ${part}`) !== hash('sha256', json));
  await client.query(
    `insert into diagnostic_reading_part (run_id, diagnostic, part, steps, sha256)
     select $1, diagnostic, part, steps::jsonb, sha256(convert_to(steps, 'UTF8'))
     from unnest($2::text[], $3::int[], $4::text[]) as p (diagnostic, part, steps)
     on conflict (run_id, diagnostic, part) do update set steps = excluded.steps, sha256 = excluded.sha256`,
    [runId, changed.map(({ id }) => id), changed.map(({ part }) => part), changed.map(({ json }) => json)],
  );
  await client.query(
    `delete from diagnostic_reading_part as kept using unnest($2::text[], $3::int[]) as now (diagnostic, parts)
     where run_id = $1 and kept.diagnostic = now.diagnostic and part >= parts`,
    [runId, readings.map(({ id }) => id), readings.map(({ steps }) => Math.ceil(steps.length / STEPS_OF_PART))],
  );
}

interface KeptPart {
  readonly diagnostic: string;
  readonly part: number;
  readonly sha256: string;
}

/** [parts] JSON */
function partsOf(steps: Diagnosis['steps']): string[] {
  return Array.from({ length: Math.ceil(steps.length / STEPS_OF_PART) }, (_, part) =>
    JSON.stringify(steps.slice(part * STEPS_OF_PART, (part + 1) * STEPS_OF_PART)),
  );
}
