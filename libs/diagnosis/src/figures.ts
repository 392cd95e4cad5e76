import type { AnyDiagnostic, Settings, StepOutcome } from '#lib/diagnostics';
import type { Queryable } from '#lib/storage';
import type { MeasuredFigures } from './measure-step.js';
import { unpackOutcomes } from './packed-outcomes.js';
import { memberKey } from './settings.js';
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
  for (const { step, diagnostics, packed } of await rowsOf(db, runId, steps, wanted, 'outcomes')) {
    const unpacked = unpackOutcomes(packed!);
    const ofStep = figures.get(step) ?? new Map<string, StepOutcome>();
    for (const [i, diagnostic] of diagnostics.entries()) if (diagnostic) ofStep.set(diagnostic, unpacked.outcomes[i]);
    figures.set(step, ofStep);
    bytes.set(step, (bytes.get(step) ?? 0) + unpacked.bytes);
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
  for (const { step, diagnostics } of await rowsOf(db, runId, steps, wanted, 'null')) {
    const ofStep = names.get(step) ?? new Set();
    names.set(step, ofStep);
    for (const diagnostic of diagnostics) if (diagnostic) ofStep.add(diagnostic);
  }
  return names;
}

interface FiguresRow {
  readonly step: number;
  /** [members] null: not wanted, as of other params or of another revision */
  readonly diagnostics: readonly (string | null)[];
  /** [members] null: not asked for */
  readonly packed: Uint8Array | null;
}

async function rowsOf(
  db: Queryable,
  runId: string,
  steps: readonly StepRevision[],
  { catalogue, settings }: Wanted,
  what: 'outcomes' | 'null',
): Promise<FiguresRow[]> {
  if (steps.length === 0) return [];
  const members = new Map(catalogue.map((diagnostic) => [memberKey(diagnostic, settings[diagnostic.id]), diagnostic]));
  const { rows } = await db.query(
    `select training_step as step, figures.revision::float8 as revision, array_to_string(members, ',') as members,
       ${what} as packed
     from unnest($2::int[], $3::bigint[], $4::bigint[]) as asked (training_step, revision, checkpoint_revision)
     join diagnostic_figures as figures using (training_step)
     where run_id = $1 and figures.revision in (asked.revision, asked.checkpoint_revision) and members && $5::text[]`,
    [
      runId,
      steps.map(({ trainingStep }) => trainingStep),
      steps.map(({ revision }) => revision),
      steps.map(({ checkpointRevision }) => checkpointRevision),
      [...members.keys()],
    ],
  );
  const asked = new Map(steps.map((step) => [step.trainingStep, step]));
  return rows.map((row: { step: number; revision: number; members: string; packed: Uint8Array | null }) => ({
    step: row.step,
    packed: row.packed,
    diagnostics: row.members.split(',').map((key) => {
      const diagnostic = members.get(key);
      const isWanted = diagnostic && revisionFor(diagnostic, asked.get(row.step)!) === row.revision;
      return isWanted ? diagnostic.id : null;
    }),
  }));
}

/** Which figures are wanted, as a text: of other diagnostics, versions or params it is another one. */
export function wantedKey({ catalogue, settings }: Wanted): string {
  return catalogue.map((diagnostic) => memberKey(diagnostic, settings[diagnostic.id])).join();
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
  measured: readonly MeasuredFigures[],
  { catalogue, settings }: Wanted,
): Promise<void> {
  const byId = new Map(catalogue.map((diagnostic) => [diagnostic.id, diagnostic]));
  const revisions = new Map(steps.map((step) => [step.trainingStep, step]));
  const rows = measured.map(({ trainingStep, diagnostics, outcomes }) => {
    const keys = diagnostics.map(({ id, version }) => memberKey(byId.get(id)!, settings[id], version));
    const revision = revisionFor(byId.get(diagnostics[0].id)!, revisions.get(trainingStep)!);
    return { trainingStep, revision, members: keys.join(), size: outcomes.length };
  });
  await db.query(
    // one parameter of bytes: the driver would write each of an array of them as text
    `insert into diagnostic_figures (run_id, training_step, revision, members, members_sha256, outcomes)
     select $1, step, revision, string_to_array(members, ','), sha256(convert_to(members, 'UTF8')),
       substring($6::bytea from (sum(size) over (order by place) - size + 1)::int for size)
     from unnest($2::int[], $3::bigint[], $4::text[], $5::int[]) with ordinality as row (step, revision, members, size, place)
     on conflict do nothing`,
    [
      runId,
      rows.map(({ trainingStep }) => trainingStep),
      rows.map(({ revision }) => revision),
      rows.map(({ members }) => members),
      rows.map(({ size }) => size),
      Buffer.concat(measured.map(({ outcomes }) => outcomes)),
    ],
  );
}
