import { DIAGNOSTICS, readRun, type AnyDiagnostic } from '#lib/diagnostics';
import { projectedPosition } from '#lib/projection';
import type { Pool, Queryable } from '#lib/storage';
import { raiseAlerts, type AlertEdge } from './alerts.js';
import { keepDiagnosis, type RunDiagnosis } from './kept-diagnosis.js';
import { keepFigures, knownFigures } from './figures.js';
import { stepSource } from './load-step.js';
import type { MeasuredDiagnostic, MeasureTask } from './measure-step.js';
import { metricsOf, stepRevisions, type StepRevision } from './step-revisions.js';

export interface DiagnosePorts {
  /** the platform's own pool */
  readonly pool: Pool;
  /** measures in a thread of its own */
  measure(task: MeasureTask): Promise<MeasuredDiagnostic[]>;
  /** told of alerts that opened and closed, once they are kept; their deliveries are pending whether it is called or not */
  alerted(edges: readonly AlertEdge[]): Promise<void>;
  /** aborts when the process stops */
  readonly signal?: AbortSignal | undefined;
  /** training steps measured at once */
  readonly concurrency?: number;
  readonly catalogue?: readonly AnyDiagnostic[];
}

/**
 * Brings a run's diagnosis up to date: measures the training steps that are complete and not measured yet, reads the
 * run, keeps the readings, and raises alerts. Interrupted at any point it is run again, and goes on where it was.
 *
 * @param isFinal also the step that is still being recorded is measured
 */
export async function diagnoseRun(ports: DiagnosePorts, runId: string, isFinal: boolean): Promise<void> {
  const { pool, catalogue = DIAGNOSTICS } = ports;
  const started = performance.now();
  const asOf = await projectedPosition(pool, runId);
  const steps = await stepRevisions(pool, runId, asOf);
  await measureSteps(ports, runId, asOf, isFinal ? steps : steps.filter(({ isComplete }) => isComplete));
  const diagnosis = await readDiagnosis(pool, runId, asOf, { catalogue });
  // alerts first: who reads the diagnosis of a position finds its alerts
  await ports.alerted(await raiseAlerts(pool, runId, asOf, diagnosis.readings));
  await keepDiagnosis(pool, runId, diagnosis, (performance.now() - started) / 1000);
}

/** Measures what is not known of these steps, as of a position. */
export async function measureSteps(
  ports: DiagnosePorts,
  runId: string,
  asOf: number,
  steps: readonly StepRevision[],
): Promise<void> {
  const { pool, signal, concurrency = 2, catalogue = DIAGNOSTICS } = ports;
  const known = await knownFigures(pool, runId, steps, catalogue);
  const open = steps.filter(({ trainingStep }) => (known.get(trainingStep)?.size ?? 0) < catalogue.length);
  if (open.length === 0) return;
  const metrics = await metricsOf(pool, runId, asOf);
  const next = open.values();
  const measureInTurn = async () => {
    for (const step of next) {
      signal?.throwIfAborted();
      const { trainingStep, trajectoryCount } = step;
      const source = await stepSource(pool, runId, trainingStep, asOf, trajectoryCount);
      const diagnostics = catalogue.map(({ id }) => id).filter((id) => !known.get(trainingStep)?.has(id));
      const task = { trainingStep, source, metrics: metrics.get(trainingStep) ?? {}, diagnostics };
      await keepFigures(pool, runId, step, await ports.measure(task));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, measureInTurn));
}

/**
 * Reads a run from the figures that are there: no trajectory is looked at.
 *
 * @param thresholds by diagnostic, what differs from the defaults
 */
export async function readDiagnosis(
  db: Queryable,
  runId: string,
  asOf: number,
  {
    catalogue = DIAGNOSTICS,
    thresholds = {},
  }: { readonly catalogue?: readonly AnyDiagnostic[]; readonly thresholds?: Readonly<Record<string, unknown>> } = {},
): Promise<RunDiagnosis> {
  const steps = await stepRevisions(db, runId, asOf);
  const known = await knownFigures(db, runId, steps, catalogue);
  const measured = steps.filter(({ trainingStep }) => known.has(trainingStep));
  const readings = catalogue.map((diagnostic) => {
    const outcomes = measured.flatMap(({ trainingStep }) => {
      const outcome = known.get(trainingStep)!.get(diagnostic.id);
      return outcome ? [{ trainingStep, outcome }] : [];
    });
    return readRun(diagnostic, outcomes, thresholds[diagnostic.id]);
  });
  return { asOf, readings, pendingSteps: steps.length - measured.length };
}
