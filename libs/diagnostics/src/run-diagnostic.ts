import { missingText, type MissingSignal } from '#lib/credit';
import { levelOf, rowCount, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import { alertsOf, type Alert } from './alerts.js';
import type { AnyDiagnostic, Measured, Reading, TrainingStepData } from './diagnostic.js';
import { oncePerBatch } from './once-per-batch.js';
import { settingsOf, type Settings } from './settings.js';

/** What a diagnostic has of one training step; JSON, so that it can be kept. */
export type StepOutcome =
  | { readonly kind: 'figures'; readonly figures: unknown }
  | { readonly kind: 'missing'; readonly missing: readonly MissingSignal[] }
  /** there is nothing to measure in this step: no group of two, no metric of that name */
  | { readonly kind: 'nothing' }
  /** it threw: the fault is in the diagnostic */
  | { readonly kind: 'failed'; readonly reason: string };

/** A run as one diagnostic reads it. */
export interface Diagnosis extends Reading {
  readonly id: string;
  readonly alerts: readonly Alert[];
  /** which required signals were missing, and on how many training steps; of the last of them, how many rows */
  readonly missing: readonly { readonly trainingSteps: number; readonly text: string }[];
  /** on how many training steps it failed; of the last of them, why */
  readonly failed: readonly { readonly trainingSteps: number; readonly text: string }[];
  /** what it was asked with: params, thresholds and `hold` where it was set, by name */
  readonly settings: Readonly<Record<string, unknown>>;
}

/**
 * Condenses one training step. A signal counts as missing where no row has it: a diagnostic lives with gaps.
 *
 * @param given settings that differ from the defaults
 */
export function measureStep(diagnostic: AnyDiagnostic, step: TrainingStepData, given?: Settings[string]): StepOutcome {
  if (diagnostic.requires.length > 0 && step.trajectories.ids.length === 0) return { kind: 'nothing' };
  const missing: MissingSignal[] = [];
  for (const path of diagnostic.requires) {
    if (!isSaid(step.trajectories, path)) missing.push(onNoRow(step.trajectories, path));
  }
  if (missing.length > 0) return { kind: 'missing', missing };
  const figures = diagnostic.measure(step, settingsOf(diagnostic, given).params as never);
  return figures === null ? { kind: 'nothing' } : { kind: 'figures', figures };
}

/** [path] whether any row has it: most members of the catalogue ask for the same few signals. */
const saidIn = oncePerBatch((): Map<SignalPath, boolean> => new Map());

function isSaid(trajectories: TrajectoryBatch, path: SignalPath): boolean {
  const said = saidIn(trajectories);
  const known = said.get(path);
  if (known !== undefined) return known;
  const found = isOnAnyRow(trajectories, path);
  said.set(path, found);
  return found;
}

function isOnAnyRow(trajectories: TrajectoryBatch, path: SignalPath): boolean {
  if (path === 'turn.state') return trajectories.stateKey.some(isKey);
  if (path === 'turn.action') return trajectories.actionKey.some(isKey);
  return trajectories.columns.get(path)?.values.some(isValue) ?? false;
}

const isKey = (key: number) => key >= 0;
const isValue = (value: unknown) => value !== null && !Number.isNaN(value);

function onNoRow(trajectories: TrajectoryBatch, path: SignalPath): MissingSignal {
  const of = rowCount(trajectories, levelOf(path));
  return { path, rows: of, of };
}

/**
 * Reads a run from what was measured of its steps.
 *
 * @param steps in ascending order of the training step
 * @param given settings that differ from the defaults; those of `measure` are those that it was measured with
 */
export function readRun(
  diagnostic: AnyDiagnostic,
  steps: readonly { readonly trainingStep: number; readonly outcome: StepOutcome }[],
  given?: Settings[string],
): Diagnosis {
  const { params, thresholds, hold } = settingsOf(diagnostic, given);
  const measured: Measured<never>[] = [];
  const lacking: string[] = [];
  const failures: string[] = [];
  for (const { trainingStep, outcome } of steps) {
    if (outcome.kind === 'figures') measured.push({ trainingStep, figures: outcome.figures as never });
    if (outcome.kind === 'missing') lacking.push(missingText(outcome.missing));
    if (outcome.kind === 'failed') failures.push(outcome.reason);
  }
  const [missing, failed] = [lacking, failures].map(lastOf);
  const isAsked = steps.length > 0 || diagnostic.readsCheckpoints; // of those only steps with one are measured
  const lacks = isAsked && diagnostic.needs ? `nothing to measure yet: needs ${diagnostic.needs}` : undefined;
  const reading =
    measured.length > 0
      ? diagnostic.read(measured, thresholds as never)
      : nothingToRead(missing[0] ?? failed[0], lacks);
  return {
    id: diagnostic.id,
    ...reading,
    alerts: alertsOf(reading.steps, diagnostic.rules(thresholds as never), hold),
    missing,
    failed,
    settings: { ...params, ...thresholds, ...(Object.keys(hold).length > 0 && { hold }) },
  };
}

/** What a diagnostic is that cannot be read: it fails alone. */
export function unreadable({ id }: AnyDiagnostic, trainingSteps: number, reason: string): Diagnosis {
  const failed = [{ trainingSteps, text: reason }];
  return { id, ...nothingToRead(failed[0]), alerts: [], missing: [], failed, settings: {} };
}

function lastOf(texts: readonly string[]) {
  const text = texts.at(-1);
  return text === undefined ? [] : [{ trainingSteps: texts.length, text }];
}

function nothingToRead(because?: { readonly text: string }, otherwise = 'nothing to measure yet'): Reading {
  const sentence = because ? `cannot be said: ${because.text}` : otherwise;
  return { values: {}, reasons: {}, sentence, steps: [], evidence: [] };
}
