import type { Confined } from '#lib/access';
import { readDiagnosis, type RunSettings } from '#lib/diagnosis';
import { DIAGNOSTICS, type Diagnosis } from '#lib/diagnostics';
import type { Key, Order } from '../graphql/cursor.js';
import { queryable } from '../graphql/queryable.js';
import type { MetricPoint } from '../metrics/metric-series.object.js';
import {
  AlertLevel,
  type Alert,
  type Diagnostic,
  type DiagnosticSettings,
  type DiagnosticStep,
  type SettingOrigin,
} from './diagnostic.object.js';

/** A diagnostic of a run; its steps where they are known already, else they are loaded when asked for. */
export interface RunDiagnostic extends Diagnostic {
  readonly run: string;
  readonly steps: readonly DiagnosticStep[] | null;
}

/** What was last said of each run; nothing where none of it was measured yet. */
export async function keptDiagnostics(db: Confined, runIds: readonly string[]): Promise<RunDiagnostic[][]> {
  const rows = await db.query<Omit<Circumstances, 'steps'> & { reading: KeptReading }>(
    `select run_id as run, as_of::float8 as "asOf", pending_steps as "pendingSteps",
       settings_version as "settingsVersion", reading
     from diagnostic_reading join diagnosis using (run_id) where run_id = any ($1) order by place`,
    [runIds],
  );
  const byRun = Map.groupBy(rows, ({ run }) => run);
  return runIds.map((id) =>
    (byRun.get(id) ?? []).flatMap(({ reading, ...circumstances }) =>
      diagnosticOf(reading, { ...circumstances, steps: null }),
    ),
  );
}

/** What is said of a run as of an earlier position, from what is measured of it. */
export async function diagnosticsAsOf(db: Confined, run: string, asOf: number): Promise<RunDiagnostic[]> {
  const { readings, ...told } = await readDiagnosis(queryable(db), run, asOf);
  return readings.flatMap((reading) => diagnosticOf(reading, { run, ...told, steps: reading.steps }));
}

/** What an older version of the platform kept says nothing of failures and settings. */
type KeptReading = Omit<Diagnosis, 'steps' | 'failed' | 'settings'> & Partial<Pick<Diagnosis, 'failed' | 'settings'>>;

type Circumstances = Pick<RunDiagnostic, 'run' | 'asOf' | 'pendingSteps' | 'settingsVersion' | 'steps'>;

/** @returns nothing for what an older version of the platform measured and this one does not know */
function diagnosticOf(reading: KeptReading, circumstances: Circumstances): RunDiagnostic[] {
  const known = DIAGNOSTICS.find(({ id }) => id === reading.id);
  if (!known) return [];
  const { id, title, question, remedy, headline } = known;
  const { sentence, values, reasons, evidence, alerts, detail = null, missing, failed = [], settings = {} } = reading;
  return [
    {
      ...circumstances,
      id,
      title,
      question,
      remedy,
      headline,
      reading: sentence,
      value: values[headline] ?? null,
      values,
      reasons,
      evidence,
      alerts: alerts.map(({ level, openedAt, closedAt, ...alert }) => ({
        ...alert,
        level: LEVELS[level],
        openedStep: openedAt,
        closedStep: closedAt,
      })),
      detail,
      missing: missing.map(onSteps),
      failed: failed.map(onSteps),
      settings,
    },
  ];
}

const LEVELS = { info: AlertLevel.INFO, warn: AlertLevel.WARN, critical: AlertLevel.CRITICAL };

const onSteps = ({ text, trainingSteps }: { readonly text: string; readonly trainingSteps: number }) =>
  `${text} (${trainingSteps} training ${trainingSteps === 1 ? 'step' : 'steps'})`;

/** The settings in force of each run. */
export async function settingsOfRuns(db: Confined, runIds: readonly string[]): Promise<DiagnosticSettings[]> {
  const rows = await db.query<RunSettings & { run: string }>(
    `select distinct on (run_id) run_id as run, version, settings from diagnostic_settings
     where run_id = any ($1) order by run_id, version desc`,
    [runIds],
  );
  const byRun = new Map(rows.map((settings) => [settings.run, settings]));
  return runIds.map((id) => byRun.get(id) ?? { run: id, version: 0, settings: {} });
}

/** Of each run, who set what is in force: the version since which each setting has the value that it has. */
export async function settingOrigins(db: Confined, runIds: readonly string[]): Promise<SettingOrigin[][]> {
  const rows = await db.query<SettingOrigin & { run: string }>(
    `with said as (
       select run_id, version, set_at, set_by, one.key as diagnostic, setting.key as name, setting.value,
         lag(setting.value) over earlier as "valueBefore", lag(version) over earlier as "versionBefore"
       from diagnostic_settings, jsonb_each(settings) as one, jsonb_each(one.value) as setting
       where run_id = any ($1)
       window earlier as (partition by run_id, one.key, setting.key order by version)
     )
     select distinct on (run_id, diagnostic, name) run_id as run, diagnostic, said.name, version, set_at as "setAt",
       set_by as "setBy", api_key.name as "keyName"
     from said left join api_key on api_key.id = set_by
     where "valueBefore" is distinct from value or "versionBefore" is distinct from version - 1
     order by run_id, diagnostic, said.name, version desc`,
    [runIds],
  );
  const byRun = Map.groupBy(rows, ({ run }) => run);
  return runIds.map((id) => byRun.get(id) ?? []);
}

/** The values of one diagnostic by training step, of each run. */
export async function diagnosticSteps(
  db: Confined,
  runIds: readonly string[],
  diagnostic: string,
): Promise<(readonly DiagnosticStep[])[]> {
  const rows = await db.query<{ run: string; steps: readonly DiagnosticStep[] }>(
    `select run_id as run, steps from diagnostic_reading_part where run_id = any ($1) and diagnostic = $2 order by part`,
    [runIds, diagnostic],
  );
  const byRun = Map.groupBy(rows, ({ run }) => run);
  return runIds.map((id) => (byRun.get(id) ?? []).flatMap(({ steps }) => steps));
}

/** A value of a diagnostic of a run. */
export interface WantedCurve {
  readonly run: string;
  readonly diagnostic: string;
  readonly value: string;
}

/** One value of each diagnostic by training step, in one statement and without the others. */
export async function diagnosticCurves(db: Confined, wanted: readonly WantedCurve[]): Promise<MetricPoint[][]> {
  const rows = await db.query<WantedCurve & { points: MetricPoint[] | null }>(
    `select run_id as run, diagnostic, wanted.value, (
       select jsonb_agg(jsonb_build_object('trainingStep', step -> 'trainingStep', 'value', step -> 'values' -> wanted.value) order by place)
       from jsonb_array_elements(steps) with ordinality as one(step, place)
     ) as points
     from unnest($1::text[], $2::text[], $3::text[]) as wanted(run, diagnostic, value)
     join diagnostic_reading_part using (diagnostic) where run_id = wanted.run order by part`,
    [wanted.map(({ run }) => run), wanted.map(({ diagnostic }) => diagnostic), wanted.map(({ value }) => value)],
  );
  const keyOf = ({ run, diagnostic, value }: WantedCurve) => `${run} ${diagnostic} ${value}`;
  const parts = Map.groupBy(rows, keyOf);
  return wanted.map((curve) => (parts.get(keyOf(curve)) ?? []).flatMap(({ points }) => points ?? []));
}

export interface AlertFilter {
  readonly isOpen: boolean | null;
}

export const NEWEST_ALERT: Order<Alert> = {
  parts: ['instant', 'text'],
  keyOf: ({ openedAt, id }) => [openedAt.toISOString(), id],
};

/** Of each run, newest first. */
export function alertsOfRuns(
  db: Confined,
  runIds: readonly string[],
  limit: number,
  after: Key | null,
  { isOpen }: AlertFilter,
) {
  return db.query<Alert & { of: string }>(
    `select run.id as "of", found.* from unnest($1::text[]) as run(id)
     cross join lateral (
       select id, diagnostic, rule, level, says, saw, opened_step as "openedStep", opened_at as "openedAt",
         closed_step as "closedStep", closed_at as "closedAt"
       from alert
       where run_id = run.id and ($3::bool is null or (closed_as_of is null) = $3)
         and ($4::timestamptz is null or (opened_at, id) < ($4, $5))
       order by opened_at desc, id desc limit $2
     ) as found`,
    [runIds, limit, isOpen, ...(after ?? [null, null])],
  );
}
