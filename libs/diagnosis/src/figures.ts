import type { AnyDiagnostic, StepOutcome } from '#lib/diagnostics';
import type { Queryable } from '#lib/storage';
import type { MeasuredDiagnostic } from './measure-step.js';
import type { StepRevision } from './step-revisions.js';

/** What is known of training steps: [trainingStep][diagnostic] its outcome, of these revisions and current versions. */
export type KnownFigures = ReadonlyMap<number, ReadonlyMap<string, StepOutcome>>;

export async function knownFigures(
  db: Queryable,
  runId: string,
  steps: readonly StepRevision[],
  catalogue: readonly AnyDiagnostic[],
): Promise<KnownFigures> {
  const { rows } = await db.query(
    `select training_step as step, diagnostic, outcome from diagnostic_figures
     join unnest($2::int[], $3::bigint[]) as wanted (training_step, revision) using (training_step, revision)
     join unnest($4::text[], $5::int[]) as current (diagnostic, version) using (diagnostic, version)
     where run_id = $1`,
    [
      runId,
      steps.map(({ trainingStep }) => trainingStep),
      steps.map(({ revision }) => revision),
      catalogue.map(({ id }) => id),
      catalogue.map(({ version }) => version),
    ],
  );
  const known = new Map<number, Map<string, StepOutcome>>();
  for (const { step, diagnostic, outcome } of rows) {
    const ofStep = known.get(step) ?? new Map<string, StepOutcome>();
    known.set(step, ofStep.set(diagnostic, outcome));
  }
  return known;
}

/** Keeps what was measured. Figures of a revision are what they are: whoever measured first is right. */
export async function keepFigures(
  db: Queryable,
  runId: string,
  { trainingStep, revision }: StepRevision,
  measured: readonly MeasuredDiagnostic[],
): Promise<void> {
  await db.query(
    `insert into diagnostic_figures (run_id, training_step, revision, diagnostic, version, outcome)
     select $1, $2, $3, * from unnest($4::text[], $5::int[], $6::jsonb[]) on conflict do nothing`,
    [
      runId,
      trainingStep,
      revision,
      measured.map(({ diagnostic }) => diagnostic),
      measured.map(({ version }) => version),
      measured.map(({ outcome }) => JSON.stringify(outcome)),
    ],
  );
}
