import { missingText, type MissingSignal } from '#lib/credit';
import { levelOf, rowCount, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import { z } from 'zod';
import { alertsOf, type Alert } from './alerts.js';
import type { AnyDiagnostic, Measured, Reading, TrainingStepData } from './diagnostic.js';

/** What a diagnostic has of one training step; JSON, so that it can be kept. */
export type StepOutcome =
  | { readonly kind: 'figures'; readonly figures: unknown }
  | { readonly kind: 'missing'; readonly missing: readonly MissingSignal[] }
  /** there is nothing to measure in this step: no group of two, no metric of that name */
  | { readonly kind: 'nothing' };

/** A run as one diagnostic reads it. */
export interface Diagnosis extends Reading {
  readonly id: string;
  readonly alerts: readonly Alert[];
  /** which required signals were missing, and on how many training steps; of the last of them, how many rows */
  readonly missing: readonly { readonly trainingSteps: number; readonly text: string }[];
}

/** Params or thresholds with their defaults; `params.invalid` names what the diagnostic does not have. */
export function parseSettings(
  diagnostic: AnyDiagnostic,
  kind: 'params' | 'thresholds',
  raw: unknown = {},
): Record<string, unknown> {
  const settings = diagnostic[kind].safeParse(raw);
  if (settings.success) return settings.data;
  throw new RecreditError('params.invalid', `${diagnostic.id}, ${kind}: ${z.prettifyError(settings.error)}`, {
    diagnostic: diagnostic.id,
    issues: settings.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
  });
}

/** Condenses one training step. A signal counts as missing where no row has it: a diagnostic lives with gaps. */
export function measureStep(diagnostic: AnyDiagnostic, step: TrainingStepData, params: unknown = {}): StepOutcome {
  const absent = diagnostic.requires.filter((path) => !isSaid(step.trajectories, path));
  if (absent.length > 0) return { kind: 'missing', missing: absent.map((path) => onNoRow(step.trajectories, path)) };
  const figures = diagnostic.measure(step, parseSettings(diagnostic, 'params', params) as never);
  return figures === null ? { kind: 'nothing' } : { kind: 'figures', figures };
}

function isSaid(trajectories: TrajectoryBatch, path: SignalPath): boolean {
  if (path === 'turn.state') return trajectories.stateKey.some((key) => key >= 0);
  if (path === 'turn.action') return trajectories.actionKey.some((key) => key >= 0);
  const column = trajectories.columns.get(path);
  return column?.values.some((value: unknown) => value !== null && !Number.isNaN(value)) ?? false;
}

function onNoRow(trajectories: TrajectoryBatch, path: SignalPath): MissingSignal {
  const of = rowCount(trajectories, levelOf(path));
  return { path, rows: of, of };
}

/**
 * Reads a run from what was measured of its steps.
 *
 * @param steps in ascending order of the training step
 */
export function readRun(
  diagnostic: AnyDiagnostic,
  steps: readonly { readonly trainingStep: number; readonly outcome: StepOutcome }[],
  rawThresholds: unknown = {},
): Diagnosis {
  const thresholds = parseSettings(diagnostic, 'thresholds', rawThresholds) as never;
  const measured: Measured<never>[] = [];
  const lacking: (readonly MissingSignal[])[] = [];
  for (const { trainingStep, outcome } of steps) {
    if (outcome.kind === 'figures') measured.push({ trainingStep, figures: outcome.figures as never });
    if (outcome.kind === 'missing') lacking.push(outcome.missing);
  }
  const reading = measured.length > 0 ? diagnostic.read(measured, thresholds) : nothingToRead(lacking);
  const last = lacking.at(-1);
  return {
    id: diagnostic.id,
    ...reading,
    alerts: alertsOf(reading.steps, diagnostic.rules(thresholds)),
    missing: last ? [{ trainingSteps: lacking.length, text: missingText(last) }] : [],
  };
}

function nothingToRead(lacking: readonly (readonly MissingSignal[])[]): Reading {
  const last = lacking.at(-1);
  const sentence = last ? `cannot be said: ${missingText(last)}` : 'nothing to measure yet';
  return { values: {}, reasons: {}, sentence, steps: [], evidence: [] };
}
