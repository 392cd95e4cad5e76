import type { AnyDiagnostic, Settings, StepOutcome } from '#lib/diagnostics';
import type { Queryable } from '#lib/storage';
import type { MeasuredDiagnostic } from './measure-step.js';
import { paramsKey } from './settings.js';
import { revisionFor, type StepRevision } from './step-revisions.js';

/** What is known of training steps: [trainingStep][diagnostic] its outcome, of these revisions and current versions. */
export type KnownFigures = ReadonlyMap<number, ReadonlyMap<string, StepOutcome>>;

/** [trainingStep] of which diagnostics something is known. */
export type KnownNames = ReadonlyMap<number, { has(diagnostic: string): boolean }>;

/** Which figures are asked for: of which diagnostics, measured with which settings. */
export interface Wanted {
  readonly catalogue: readonly AnyDiagnostic[];
  readonly settings: Settings;
}

/** What is known of training steps, and how long it is as JSON: [trainingStep] bytes. */
export async function knownFigures(
  db: Queryable,
  runId: string,
  steps: readonly StepRevision[],
  wanted: Wanted,
): Promise<{ readonly figures: KnownFigures; readonly bytes: ReadonlyMap<number, number> }> {
  const figures = new Map<number, Map<string, StepOutcome>>();
  const bytes = new Map<number, number>();
  for (const { step, diagnostic, outcome } of await rowsOf(db, runId, steps, wanted, 'outcome::text')) {
    const ofStep = figures.get(step) ?? new Map<string, StepOutcome>();
    figures.set(step, ofStep.set(diagnostic, JSON.parse(outcome) as StepOutcome));
    bytes.set(step, (bytes.get(step) ?? 0) + outcome.length);
  }
  return { figures, bytes };
}

/** [trainingStep] the diagnostics whose figures are known, without reading them. */
export async function knownNames(
  db: Queryable,
  runId: string,
  steps: readonly StepRevision[],
  wanted: Wanted,
): Promise<KnownNames> {
  const names = new Map<number, Set<string>>();
  for (const { step, diagnostic } of await rowsOf(db, runId, steps, wanted, 'null')) {
    const ofStep = names.get(step) ?? new Set();
    names.set(step, ofStep.add(diagnostic));
  }
  return names;
}

interface FiguresRow {
  readonly step: number;
  readonly diagnostic: string;
  /** JSON */
  readonly outcome: string;
}

async function rowsOf(
  db: Queryable,
  runId: string,
  steps: readonly StepRevision[],
  { catalogue, settings }: Wanted,
  what: 'outcome::text' | 'null',
): Promise<FiguresRow[]> {
  if (steps.length === 0) return [];
  const { rows } = await db.query(
    `select training_step as step, diagnostic, ${what} as outcome
     from unnest($2::int[], $3::bigint[], $4::bigint[]) as asked (training_step, revision, checkpoint_revision)
     join diagnostic_figures as figures using (training_step)
     join unnest($5::text[], $6::int[], $7::text[], $8::bool[]) as member (diagnostic, version, params, reads_checkpoints)
       using (diagnostic, version, params)
     where run_id = $1
       and figures.revision = case when reads_checkpoints then checkpoint_revision else asked.revision end`,
    [
      runId,
      steps.map(({ trainingStep }) => trainingStep),
      steps.map(({ revision }) => revision),
      steps.map(({ checkpointRevision }) => checkpointRevision),
      catalogue.map(({ id }) => id),
      catalogue.map(({ version }) => version),
      catalogue.map((diagnostic) => paramsKey(diagnostic, settings[diagnostic.id])),
      catalogue.map(({ readsCheckpoints }) => readsCheckpoints ?? false),
    ],
  );
  return rows;
}

/** Which figures are wanted, as a text: of other diagnostics, versions or params it is another one. */
export function wantedKey({ catalogue, settings }: Wanted): string {
  return catalogue.map((member) => `${member.id} ${member.version} ${paramsKey(member, settings[member.id])}`).join();
}

/** The diagnostics that have something to measure in a step, and were not asked yet. */
export function unknownOf(step: StepRevision, known: KnownNames, catalogue: readonly AnyDiagnostic[]): AnyDiagnostic[] {
  const ofStep = known.get(step.trainingStep);
  return catalogue.filter((diagnostic) => revisionFor(diagnostic, step) !== null && !ofStep?.has(diagnostic.id));
}

/**
 * Keeps what was measured of training steps, in one statement. Figures of a revision are what they are: whoever measured
 * first is right.
 */
export async function keepFigures(
  db: Queryable,
  runId: string,
  steps: readonly StepRevision[],
  measured: readonly MeasuredDiagnostic[],
  { catalogue, settings }: Wanted,
): Promise<void> {
  const members = new Map(catalogue.map((diagnostic) => [diagnostic.id, diagnostic]));
  const paramsOf = new Map(
    catalogue.map((diagnostic) => [diagnostic.id, paramsKey(diagnostic, settings[diagnostic.id])]),
  );
  const revisions = new Map(steps.map((step) => [step.trainingStep, step]));
  const kept = measured.map(({ trainingStep, diagnostic: id, version, outcome }) => ({
    id,
    version,
    outcome,
    trainingStep,
    revision: revisionFor(members.get(id)!, revisions.get(trainingStep)!),
    params: paramsOf.get(id)!,
  }));
  await db.query(
    `insert into diagnostic_figures (run_id, training_step, revision, diagnostic, version, params, outcome)
     select $1, * from unnest($2::int[], $3::bigint[], $4::text[], $5::int[], $6::text[], $7::jsonb[])
     on conflict do nothing`,
    [
      runId,
      kept.map(({ trainingStep }) => trainingStep),
      kept.map(({ revision }) => revision),
      kept.map(({ id }) => id),
      kept.map(({ version }) => version),
      kept.map(({ params }) => params),
      kept.map(({ outcome }) => JSON.stringify(outcome)),
    ],
  );
}
