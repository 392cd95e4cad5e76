import { checkSettings, DIAGNOSTICS, settingsOf, type AnyDiagnostic, type Settings } from '#lib/diagnostics';
import { canonicalJson } from '#lib/kernel';
import { inTransaction, type Pool, type Queryable } from '#lib/storage';
import { createHash } from 'node:crypto';

/** What a run's diagnostics are asked with. */
export interface RunSettings {
  /** 0: nothing was ever set */
  readonly version: number;
  /** [diagnostic][setting] what differs from the defaults */
  readonly settings: Settings;
}

/** [diagnostic][setting] a value, or null: the default again; null instead of the settings: all defaults again. */
export type SettingChanges = Readonly<Record<string, Readonly<Record<string, unknown>> | null>>;

/** The settings in force. */
export async function runSettings(db: Queryable, runId: string): Promise<RunSettings> {
  const { rows } = await db.query(
    `select version, settings from diagnostic_settings where run_id = $1 order by version desc limit 1`,
    [runId],
  );
  return rows[0] ?? { version: 0, settings: {} };
}

/**
 * Changes what a run's diagnostics are asked with, all of it or nothing. What changes nothing makes no version.
 *
 * @param setBy id of a key; null: the platform itself
 * @throws RecreditError `params.invalid` with what was wanted and what was found
 */
export function changeSettings(
  pool: Pool,
  runId: string,
  changes: SettingChanges,
  setBy: string | null,
  catalogue: readonly AnyDiagnostic[] = DIAGNOSTICS,
): Promise<RunSettings> {
  return inTransaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('diagnostic settings of ' || $1, 0))`, [runId]);
    const before = await runSettings(client, runId);
    const settings = changed(before.settings, changes);
    const set = Object.keys(changes).filter((diagnostic) => changes[diagnostic] !== null);
    checkSettings(catalogue, Object.fromEntries(set.map((diagnostic) => [diagnostic, settings[diagnostic] ?? {}])));
    if (canonicalJson(settings) === canonicalJson(before.settings)) return before;
    const version = before.version + 1;
    await client.query(`insert into diagnostic_settings (run_id, version, settings, set_by) values ($1, $2, $3, $4)`, [
      runId,
      version,
      JSON.stringify(settings),
      setBy,
    ]);
    return { version, settings };
  });
}

function changed(before: Settings, changes: SettingChanges): Settings {
  const after = new Map(Object.entries(before));
  for (const [diagnostic, change] of Object.entries(changes)) {
    const merged = Object.entries({ ...(change && after.get(diagnostic)), ...change });
    const said = merged.filter(([, value]) => value !== null);
    if (said.length > 0) after.set(diagnostic, Object.fromEntries(said));
    else after.delete(diagnostic);
  }
  return Object.fromEntries(after);
}

/**
 * What figures of a diagnostic are kept under: its name, its version, and a hash of its params where they are not the
 * defaults.
 *
 * @param version of the figures
 */
export function memberKey(
  diagnostic: AnyDiagnostic,
  given: Settings[string] | undefined,
  version = diagnostic.version,
): string {
  const key = `${diagnostic.id} ${version}`;
  if (given === undefined) return key;
  const params = canonicalJson(settingsOf(diagnostic, given).params);
  if (params === canonicalJson(settingsOf(diagnostic).params)) return key;
  return `${key} ${createHash('sha256').update(params).digest('hex').slice(0, 32)}`;
}
