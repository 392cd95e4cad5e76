import type { StepOutcome } from '#lib/diagnostics';
import type { Queryable } from '#lib/storage';
import { knownFigures, unknownOf, wantedKey, type KnownFigures, type Wanted } from './figures.js';
import type { StepRevision } from './step-revisions.js';

/** Of figures as JSON; as objects they take about three times as much. */
const MOST_BYTES = 64 * 2 ** 20;
/** A run that nobody asked about for so long is not followed any more. */
const IDLE_MS = 10 * 60_000;

interface RememberedStep {
  readonly revision: number | null;
  readonly checkpointRevision: number | null;
  readonly outcomes: ReadonlyMap<string, StepOutcome>;
  readonly bytes: number;
}

interface RememberedRun {
  /** which figures: others than those that are wanted now are forgotten */
  readonly key: string;
  readonly steps: Map<number, RememberedStep>;
  lastAsked: number;
}

/**
 * The figures of runs that are followed, so that a diagnosis reads those of new training steps alone. What is known of a
 * revision of a step never changes, so nothing here can be out of date, and who is killed loses nothing but time.
 */
export class FigureMemory {
  readonly #runs = new Map<string, RememberedRun>();
  #bytes = 0;

  /**
   * @param mostBytes of figures as JSON, over all runs; what is beyond is read anew each time
   * @param now milliseconds
   */
  constructor(
    private readonly mostBytes = MOST_BYTES,
    private readonly now: () => number = Date.now,
  ) {}

  /** The steps of which not all that is wanted is remembered. */
  unknown<Step extends StepRevision>(runId: string, steps: readonly Step[], wanted: Wanted): Step[] {
    const { steps: remembered } = this.#run(runId, wanted);
    return steps.filter((step) => !isSame(remembered.get(step.trainingStep), step));
  }

  /** What is known of training steps, of which only those are read that are not remembered. */
  async figures(db: Queryable, runId: string, steps: readonly StepRevision[], wanted: Wanted): Promise<KnownFigures> {
    const unknown = this.unknown(runId, steps, wanted);
    const { figures, bytes } = await knownFigures(db, runId, unknown, wanted);
    const run = this.#run(runId, wanted);
    const found = new Map(figures);
    for (const step of unknown) {
      const { trainingStep } = step;
      // of a step that is not measured to its end, more may be known the next time
      if (unknownOf(step, figures, wanted.catalogue).length > 0) this.#forget(run, trainingStep);
      else this.#remember(run, step, figures.get(trainingStep) ?? new Map(), bytes.get(trainingStep) ?? 0);
    }
    for (const step of steps) {
      const remembered = run.steps.get(step.trainingStep);
      if (remembered && isSame(remembered, step)) found.set(step.trainingStep, remembered.outcomes);
    }
    return found;
  }

  #run(runId: string, wanted: Wanted): RememberedRun {
    const now = this.now();
    for (const [id, { lastAsked }] of this.#runs) if (lastAsked < now - IDLE_MS) this.#drop(id);
    const key = wantedKey(wanted);
    const known = this.#runs.get(runId);
    if (known && known.key !== key) this.#drop(runId);
    const run = known?.key === key ? known : { key, steps: new Map<number, RememberedStep>(), lastAsked: now };
    run.lastAsked = now;
    this.#runs.set(runId, run);
    return run;
  }

  #remember(
    run: RememberedRun,
    { trainingStep, revision, checkpointRevision }: StepRevision,
    outcomes: ReadonlyMap<string, StepOutcome>,
    bytes: number,
  ): void {
    this.#forget(run, trainingStep);
    if (this.#bytes + bytes > this.mostBytes) return;
    run.steps.set(trainingStep, { revision, checkpointRevision, outcomes, bytes });
    this.#bytes += bytes;
  }

  #forget(run: RememberedRun, trainingStep: number): void {
    this.#bytes -= run.steps.get(trainingStep)?.bytes ?? 0;
    run.steps.delete(trainingStep);
  }

  #drop(runId: string): void {
    const run = this.#runs.get(runId);
    for (const { bytes } of run?.steps.values() ?? []) this.#bytes -= bytes;
    this.#runs.delete(runId);
  }
}

/** Without what is remembered of it, a step is read as it is kept. */
export const NO_MEMORY: Pick<FigureMemory, 'unknown' | 'figures'> = {
  unknown: (_runId, steps) => [...steps],
  figures: async (db, runId, steps, wanted) => (await knownFigures(db, runId, steps, wanted)).figures,
};

const isSame = (remembered: RememberedStep | undefined, step: StepRevision) =>
  remembered?.revision === step.revision && remembered.checkpointRevision === step.checkpointRevision;
