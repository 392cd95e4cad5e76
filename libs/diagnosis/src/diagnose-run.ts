import { DIAGNOSTICS, readRun, unreadable, type AnyDiagnostic, type Diagnosis, type Settings } from '#lib/diagnostics';
import { messageOf } from '#lib/kernel';
import { projectedPosition, signalsOf } from '#lib/projection';
import type { Pool, Queryable } from '#lib/storage';
import { raiseAlerts, type AlertEdge } from './alerts.js';
import { CheckpointWindow } from './checkpoint-window.js';
import { keepDiagnosis, type RunDiagnosis } from './kept-diagnosis.js';
import { NO_MEMORY, type FigureMemory } from './figure-memory.js';
import { keepFigures, knownNames, unknownOf } from './figures.js';
import { sourcesOf, stretchesOf } from './load-step.js';
import type { MeasuredFigures, MeasureTask, StepToMeasure } from './measure-step.js';
import { runSettings, type RunSettings } from './settings.js';
import { metricsOf, stepRevisions, type StepRevision } from './step-revisions.js';

export interface DiagnosePorts {
  /** the platform's own pool */
  readonly pool: Pool;
  /** measures in a thread of its own */
  measure(task: MeasureTask): Promise<MeasuredFigures[]>;
  /** told of alerts that opened and closed, once they are kept; their deliveries are pending whether it is called or not */
  alerted(edges: readonly AlertEdge[]): Promise<void>;
  /** aborts when the process stops */
  readonly signal?: AbortSignal | undefined;
  /** stretches of training steps measured at once */
  readonly concurrency?: number;
  readonly catalogue?: readonly AnyDiagnostic[];
  /** of one process, for all its diagnoses; without it each one reads all figures of its run */
  readonly memory?: FigureMemory;
}

/**
 * Brings a run's diagnosis up to date: measures the training steps that are complete and not measured yet, reads the
 * run, keeps the readings, and raises alerts. Interrupted at any point it is run again, and goes on where it was.
 *
 * @param isFinal also the step that is still being recorded is measured
 */
export async function diagnoseRun(ports: DiagnosePorts, runId: string, isFinal: boolean): Promise<void> {
  const { pool, catalogue, memory } = ports;
  const asOf = await projectedPosition(pool, runId);
  const settings = await runSettings(pool, runId);
  const steps = await stepRevisions(pool, runId, asOf);
  await measureSteps(ports, runId, asOf, isFinal ? steps : steps.filter(({ isComplete }) => isComplete), settings);
  // what a step takes is paid once, and is no reason to rest; what reading takes is paid with each diagnosis
  const started = performance.now();
  const diagnosis = await readDiagnosis(pool, runId, asOf, { catalogue, settings, memory, steps });
  // alerts first: who reads the diagnosis of a position finds its alerts
  await ports.alerted(await raiseAlerts(pool, runId, diagnosis));
  await keepDiagnosis(pool, runId, diagnosis, (performance.now() - started) / 1000);
}

/**
 * Measures what is not known of these steps, as of a position.
 *
 * @param given those in force if not said
 */
export async function measureSteps(
  ports: DiagnosePorts,
  runId: string,
  asOf: number,
  asked: readonly StepRevision[],
  given?: RunSettings,
): Promise<void> {
  const { pool, signal, concurrency = 2, catalogue = DIAGNOSTICS, memory = NO_MEMORY } = ports;
  const { settings } = given ?? (await runSettings(pool, runId));
  const wanted = { catalogue, settings };
  const maybeOpen = memory.unknown(runId, asked, wanted);
  const known = await knownNames(pool, runId, maybeOpen, wanted);
  const open = maybeOpen
    .map((step) => ({ step, unknown: unknownOf(step, known, catalogue) }))
    .filter(({ unknown }) => unknown.length > 0);
  if (open.length === 0) return;
  const steps = open.map(({ step }) => step);
  const trainingSteps = steps.map(({ trainingStep }) => trainingStep);
  const metrics = await metricsOf(pool, runId, asOf, trainingSteps);
  const checkpoints = await CheckpointWindow.of(pool, runId, asOf);
  const hasTokens = (await signalsOf(pool, runId)).some(({ level }) => level === 'token');
  const next = (await stretchesOf(pool, runId, asOf, steps, concurrency)).values();
  const unknownIn = new Map(open.map(({ step, unknown }) => [step.trainingStep, unknown]));
  const measureInTurn = async () => {
    for (const stretch of next) {
      signal?.throwIfAborted();
      const sources = await sourcesOf(pool, runId, asOf, stretch);
      const tasks: StepToMeasure[] = [];
      for (const [i, { trainingStep }] of stretch.steps.entries()) {
        const unknown = unknownIn.get(trainingStep)!;
        const readsCheckpoints = unknown.some((diagnostic) => diagnostic.readsCheckpoints);
        tasks.push({
          trainingStep,
          source: sources[i],
          metrics: metrics.get(trainingStep) ?? {},
          checkpoint: readsCheckpoints ? await checkpoints.at(trainingStep) : null,
          diagnostics: unknown.map(({ id }) => id),
        });
      }
      await keepFigures(pool, runId, stretch.steps, await ports.measure({ steps: tasks, settings, hasTokens }), wanted);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, measureInTurn));
}

export interface ReadOptions {
  readonly catalogue?: readonly AnyDiagnostic[] | undefined;
  /** those in force if not said */
  readonly settings?: RunSettings;
  readonly memory?: FigureMemory | undefined;
  /** what the run's training steps were as of this position, where somebody asked already */
  readonly steps?: readonly StepRevision[];
}

/** Reads a run from the figures that are there: no trajectory is looked at. */
export async function readDiagnosis(
  db: Queryable,
  runId: string,
  asOf: number,
  options: ReadOptions = {},
): Promise<RunDiagnosis> {
  const { catalogue = DIAGNOSTICS, memory = NO_MEMORY } = options;
  const { settings, version: settingsVersion } = options.settings ?? (await runSettings(db, runId));
  const steps = options.steps ?? (await stepRevisions(db, runId, asOf));
  const known = await memory.figures(db, runId, steps, { catalogue, settings });
  const measured = steps.filter((step) => unknownOf(step, known, catalogue).length === 0);
  const readings = catalogue.map((diagnostic) => {
    const outcomes = measured.flatMap(({ trainingStep }) => {
      const outcome = known.get(trainingStep)?.get(diagnostic.id);
      return outcome ? [{ trainingStep, outcome }] : [];
    });
    return readingOf(diagnostic, outcomes, settings[diagnostic.id]);
  });
  return { asOf, settingsVersion, readings, pendingSteps: steps.length - measured.length };
}

/** A diagnostic that cannot be read fails alone. */
function readingOf(
  diagnostic: AnyDiagnostic,
  outcomes: Parameters<typeof readRun>[1],
  given: Settings[string] | undefined,
): Diagnosis {
  try {
    return readRun(diagnostic, outcomes, given);
  } catch (error) {
    return unreadable(diagnostic, outcomes.length, messageOf(error));
  }
}
