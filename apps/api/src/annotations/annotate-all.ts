import { assertNotErased, findRun, type Confined } from '#lib/access';
import { appendOwn } from '#lib/event-log';
import { canonicalJson, RecreditError } from '#lib/kernel';
import { eventIssue, type RunEvent } from '#lib/protocol';
import type { Pool } from '#lib/storage';

/** What an annotator says of a turn, or of a trajectory. */
export interface Said {
  readonly trajectory: string;
  readonly turn?: number | null;
  readonly signals: unknown;
}

export interface SaidAll {
  readonly run: string;
  readonly annotator: string;
  readonly annotations: readonly Said[];
  /** nothing is recorded */
  readonly checkOnly?: boolean | null;
}

export interface Recorded {
  readonly recorded: number;
  /** that is said already, by this annotator and last */
  readonly unchanged: number;
}

export const MAX_ANNOTATIONS = 1000;
const SHOWN_ISSUES = 20;

/**
 * Appends annotations, all of them or none. What the annotator was the last to say, in the same words, is left out: a
 * request that comes twice changes nothing.
 *
 * @throws RecreditError `request.invalid`, with what is wrong with which of them
 */
export async function annotateAll(db: Confined, platform: Pool, input: SaidAll): Promise<Recorded> {
  const { annotator, annotations, checkOnly } = input;
  if (annotations.length > MAX_ANNOTATIONS)
    throw new RecreditError('request.invalid', `annotations: up to ${MAX_ANNOTATIONS} were wanted, found ${annotations.length}`); // prettier-ignore
  const run = await findRun(db, input.run);
  assertNotErased(run);
  const ids = [...new Set(annotations.map(({ trajectory }) => trajectory))];
  const turnCounts = await turnCountsOf(db, run.id, ids);
  const events = annotations.map((said) => eventOf(said, annotator));
  const issues = annotations.flatMap((said, index) => {
    const message = issueOf(said, events[index], turnCounts.get(said.trajectory));
    return message === null ? [] : [{ index, message }];
  });
  if (issues.length > 0) {
    const [{ index, message }] = issues;
    const more = issues.length > 1 ? `, and ${issues.length - 1} more` : '';
    throw new RecreditError('request.invalid', `annotations[${index}]: ${message}${more}`, {
      issues: issues.slice(0, SHOWN_ISSUES),
      count: issues.length,
    });
  }
  const last = await lastSaid(db, run.id, ids);
  const fresh = annotations.filter((said) => !isSaidAlready(said, annotator, last));
  if (!checkOnly && fresh.length > 0)
    await appendOwn(
      platform,
      run.id,
      fresh.map((said) => eventOf(said, annotator) as RunEvent),
    );
  return { recorded: fresh.length, unchanged: annotations.length - fresh.length };
}

function eventOf({ trajectory, turn, signals }: Said, annotator: string) {
  const of = turn == null ? { signals } : { turns: [{ turn, signals }] };
  return { type: 'annotation.recorded', at: new Date().toISOString(), trajectory, annotator, ...of };
}

function issueOf({ trajectory, turn }: Said, event: object, turnCount: number | undefined): string | null {
  const issue = eventIssue('annotation.recorded', event);
  if (issue) return `${issue.pointer}: expected ${issue.expected}, found ${issue.found}`;
  if (turnCount === undefined) return `the run has no trajectory ${trajectory}`;
  return turn != null && turn >= turnCount ? `turn: 0 to ${turnCount - 1} was wanted, found ${turn}` : null;
}

async function turnCountsOf(db: Confined, runId: string, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await db.query<{ id: string; turnCount: number }>(
    `select id, turn_count as "turnCount" from trajectory
     where run_id = $1 and id = any ($2) and superseded_at is null`,
    [runId, ids],
  );
  return new Map(rows.map(({ id, turnCount }) => [id, turnCount]));
}

/** Who said what last, by trajectory, turn and signal. */
type LastSaid = ReadonlyMap<string, { readonly annotator: string; readonly value: string }>;

const nameOf = (trajectory: string, turn: number | null | undefined, signal: string) =>
  JSON.stringify([trajectory, turn ?? null, signal]);

async function lastSaid(db: Confined, runId: string, ids: readonly string[]): Promise<LastSaid> {
  const rows = await db.query<{ trajectory: string; turn: number | null; annotator: string; signals: object }>(
    `select trajectory_id as trajectory, turn, annotator, signals from annotation
     where run_id = $1 and trajectory_id = any ($2) and superseded_at is null and status = 'ok'
     order by position, item`,
    [runId, ids],
  );
  const last = new Map<string, { annotator: string; value: string }>();
  for (const { trajectory, turn, annotator, signals } of rows) {
    for (const [signal, value] of Object.entries(signals)) {
      last.set(nameOf(trajectory, turn, signal), { annotator, value: canonicalJson(value) });
    }
  }
  return last;
}

function isSaidAlready({ trajectory, turn, signals }: Said, annotator: string, last: LastSaid): boolean {
  return Object.entries(signals as object).every(([signal, value]) => {
    const said = last.get(nameOf(trajectory, turn, signal));
    return said?.annotator === annotator && said.value === canonicalJson(value);
  });
}
