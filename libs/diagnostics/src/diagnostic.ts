import type { SignalPath, TrajectoryBatch } from '#lib/dataset';
import type { z } from 'zod';
import type { AlertRule } from './alerts.js';
import type { CheckpointInRun } from './checkpoints.js';

/** One training step of a run, as a diagnostic sees it. */
export interface TrainingStepData {
  readonly trainingStep: number;
  /** the trajectories that ended in this step, annotations joined in */
  readonly trajectories: TrajectoryBatch;
  /** what trainingStep.recorded said: entropy, score, gradNorm, kl … */
  readonly metrics: Readonly<Record<string, number>>;
  /** what checkpoint.recorded said of this step; null: nothing */
  readonly checkpoint: CheckpointInRun | null;
}

/** What a diagnostic keeps of one training step: JSON, bounded by the number of groups and tasks, never of turns. */
export interface Measured<Figures> {
  readonly trainingStep: number;
  readonly figures: Figures;
}

export type Values = Readonly<Record<string, number | null>>;

/** The values of one training step, which alert rules are held against. */
export interface StepValues {
  readonly trainingStep: number;
  readonly values: Values;
  /** how many groups, trajectories or turns the values rest on: a rule stays silent below its minimum */
  readonly observations: number;
}

/** Where a reader can look: a training step, or a group, trajectory or turn in it. */
export interface Evidence {
  readonly trainingStep: number;
  readonly group?: string;
  readonly trajectory?: string;
  readonly turn?: number;
  /** what is to be seen there, in a few words: `8 of 8 failed` */
  readonly note: string;
}

/** What a diagnostic says of a run. */
export interface Reading {
  /** of the run as a whole, or of its last steps where the diagnostic says so; null: undefined, `reasons` says why */
  readonly values: Values;
  /** [name] why a value is null: `needs 2 rollouts` */
  readonly reasons: Readonly<Record<string, string>>;
  /** one plain sentence with the number that matters */
  readonly sentence: string;
  /** [training steps] in ascending order */
  readonly steps: readonly StepValues[];
  /** the places that show it best, at most MAX_EVIDENCE */
  readonly evidence: readonly Evidence[];
  /** tables and curves for a page of its own: JSON */
  readonly detail?: unknown;
}

export const MAX_EVIDENCE = 20;

/**
 * A named question to a run. `measure` condenses one training step and is pure, so figures are computed once per step
 * and kept; `read` makes the answer of the figures of all steps, so thresholds and windows cost no second look at the
 * trajectories.
 */
export interface Diagnostic<
  Params extends z.ZodObject = z.ZodObject,
  Thresholds extends z.ZodObject = z.ZodObject,
  Figures = unknown,
> {
  /** kebab-case and for ever */
  readonly id: string;
  /** raised when the same input gives other figures */
  readonly version: number;
  readonly title: string;
  /** what it asks, as a question */
  readonly question: string;
  /** what helps when it alerts, one sentence */
  readonly remedy: string;
  /** the value that matters most, for a line in a table */
  readonly headline: string;
  readonly level: 'trainingStep' | 'group' | 'trajectory' | 'task' | 'run';
  readonly status: 'verified' | 'reconstructed' | 'own';
  /** where formula or thresholds come from */
  readonly source: string;
  /** a step where one is missing on every row is left out, and the reading says so */
  readonly requires: readonly SignalPath[];
  readonly accepts: readonly SignalPath[];
  /** metrics of trainingStep.recorded that it reads; the first is required where there is no required signal */
  readonly metrics: readonly string[];
  /** without which there is nothing to measure, beside the required signals: `token.entropy or token.logprob` */
  readonly needs?: string;
  /** it reads checkpoints: of a step without one it has no figures, and a later one of an earlier step changes them */
  readonly readsCheckpoints?: boolean;
  /** of `measure`: another value is another figure */
  readonly params: Params;
  /** of `read`: limits and windows */
  readonly thresholds: Thresholds;
  /** null: nothing to measure in this step; what it lacks then, `needs` says */
  measure(step: TrainingStepData, params: z.infer<Params>): Figures | null;
  read(steps: readonly Measured<Figures>[], thresholds: z.infer<Thresholds>): Reading;
  rules(thresholds: z.infer<Thresholds>): readonly AlertRule[];
}

/** Any member of the catalogue, its types forgotten. */
export interface AnyDiagnostic extends Omit<Diagnostic, 'measure' | 'read' | 'rules'> {
  measure(step: TrainingStepData, params: never): unknown;
  read(steps: readonly Measured<never>[], thresholds: never): Reading;
  rules(thresholds: never): readonly AlertRule[];
}

/** Defines a diagnostic: types `figures`, params and thresholds. */
export function defineDiagnostic<const Params extends z.ZodObject, const Thresholds extends z.ZodObject, Figures>(
  diagnostic: Diagnostic<Params, Thresholds, Figures>,
): Diagnostic<Params, Thresholds, Figures> {
  return diagnostic;
}
