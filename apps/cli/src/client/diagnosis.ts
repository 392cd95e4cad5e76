import { setTimeout as sleep } from 'node:timers/promises';
import { RecreditError } from '#lib/kernel';
import type { Evidence } from '../output/evidence-text.js';
import type { ApiClient } from './api-client.js';
import { findRun, type RunView } from './runs.js';

const PATIENCE_MS = 10 * 60_000;
const POLL_MS = 250;

export interface DiagnosticView {
  readonly id: string;
  readonly title: string;
  readonly remedy: string;
  readonly asOf: number;
  readonly pendingSteps: number;
  readonly reading: string;
  readonly headline: string;
  readonly value: number | null;
  readonly values: Readonly<Record<string, number | null>>;
  readonly reasons: Readonly<Record<string, string>>;
  readonly alerts: readonly Omit<AlertView, 'diagnostic'>[];
  readonly missing: readonly string[];
  readonly failed: readonly string[];
  /** what it was asked with */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly settingsVersion: number;
  readonly evidence: readonly Evidence[];
}

export interface AlertView {
  readonly diagnostic: string;
  readonly rule: string;
  readonly level: 'INFO' | 'WARN' | 'CRITICAL';
  readonly says: string;
  readonly saw: Readonly<Record<string, number>>;
  readonly openedStep: number;
  readonly closedStep: number | null;
}

/** By diagnostic, by name; null: the default. */
export type SettingChanges = Readonly<Record<string, Readonly<Record<string, unknown>> | null>>;

interface Diagnosed {
  readonly diagnosticSettings: { readonly version: number; readonly settings: SettingChanges };
  readonly diagnostics: readonly DiagnosticView[];
  readonly alerts: { readonly edges: readonly { readonly node: AlertView }[] };
}

const ALERT_FIELDS = 'rule level says saw openedStep closedStep';

export interface DiagnosedRun extends RunView {
  readonly diagnostics: readonly DiagnosticView[];
  readonly alerts: readonly AlertView[];
  /** what differs from the defaults */
  readonly settings: SettingChanges;
}

const FIELDS = `diagnostics(asOf: $asOf) { id title remedy asOf pendingSteps reading headline value values reasons missing failed
    settings settingsVersion alerts { ${ALERT_FIELDS} }
    evidence { trainingStep group trajectory turn note } }
  diagnosticSettings { version settings }
  alerts(first: 200) { edges { node { id diagnostic ${ALERT_FIELDS} } } }`;

/**
 * Waits until a run is diagnosed as far as it is now, or as it was at a position, and says what was found.
 *
 * @param asOf a position; null: the present
 */
export async function awaitDiagnosis(api: ApiClient, name: string, asOf: number | null): Promise<DiagnosedRun> {
  const { id, position } = await findRun<{ readonly position: number }>(api, name, 'position');
  if (asOf !== null) {
    await api.query('mutation ($run: String!, $asOf: Position!) { measureDiagnostics(run: $run, asOf: $asOf) }', {
      run: id,
      asOf,
    });
  }
  const wanted = asOf ?? position;
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await sleep(POLL_MS)) {
    const query = `query ($name: ID!, $asOf: Position) { run(id: $name) { ${FIELDS} } }`;
    const { run } = await api.query<{ run: Diagnosed }>(query, { name: id, asOf });
    const [first] = run.diagnostics;
    const { version, settings } = run.diagnosticSettings;
    if (!first || first.asOf < wanted || first.settingsVersion < version || first.pendingSteps > 0) continue;
    const kept = run.alerts.edges.map(({ node }) => node);
    const alerts = asOf === null ? kept : alertsAsOf(run.diagnostics);
    return { ...(await findRun(api, id)), diagnostics: run.diagnostics, alerts, settings };
  }
  throw new RecreditError('internal.error', `the run was not diagnosed within ten minutes: does a worker run?`);
}

/** The log has alerts of the present: what was known at a position, its diagnostics say again. */
function alertsAsOf(diagnostics: readonly DiagnosticView[]): AlertView[] {
  return diagnostics.flatMap(({ id: diagnostic, alerts }) => alerts.map((alert) => ({ diagnostic, ...alert })));
}

/** Changes what the diagnostics of a run are asked with, all of it or nothing. */
export async function setDiagnostics(api: ApiClient, name: string, settings: SettingChanges): Promise<void> {
  await api.query(
    'mutation ($run: String!, $settings: JSON!) { setDiagnostics(run: $run, settings: $settings) { version } }',
    {
      run: name,
      settings,
    },
  );
}
