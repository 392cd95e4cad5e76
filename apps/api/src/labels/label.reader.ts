import type { Confined } from '#lib/access';
import type { Rater } from '#lib/diagnostics';

interface Given {
  readonly trajectory: string;
  readonly annotator: string;
  readonly turn: number;
  readonly signals: Readonly<Record<string, unknown>>;
}

interface Row extends Omit<Given, 'signals'> {
  readonly signal: string;
  readonly label: number;
}

export interface RunLabels {
  /** [trajectories + 1] */
  readonly turnOffsets: Int32Array;
  /** [trajectories] */
  readonly dataset: readonly (string | null)[];
  readonly raters: readonly Rater[];
  /** there are more of them */
  readonly sampled: boolean;
}

/** Labels that one answer looks at; of more, those of trajectories chosen by the hash of their ids. */
const MAX_LABELS = 100_000;
/** Those with the most labels. */
const MAX_RATERS = 20;

/** The last label that each annotator gave to each turn. Trajectories that a rewind superseded are left out. */
export async function labelsOf(db: Confined, runId: string, signals: readonly string[]): Promise<RunLabels> {
  // Taken apart here: Postgres reads no JSON in which a text holds half a surrogate pair.
  const found = await db.query<Given>(
    `select trajectory_id as trajectory, annotator, turn, annotation.signals
     from annotation
     join trajectory on trajectory.run_id = annotation.run_id and trajectory.id = annotation.trajectory_id
     where annotation.run_id = $1 and turn is not null and annotation.status = 'ok'
       and annotation.superseded_at is null and trajectory.superseded_at is null
       and exists (select from unnest($2::text[]) as name where strpos(annotation.signals::text, name) > 0)
     order by md5(trajectory_id), trajectory_id, annotator, turn, position desc, item desc limit $3`,
    [runId, signals.map((name) => JSON.stringify(name)), MAX_LABELS + 1],
  );
  const isCut = found.length > MAX_LABELS;
  const given = isCut ? found.filter(({ trajectory }) => trajectory !== found.at(-1)!.trajectory) : found;
  const rows = lastLabels(given, signals);
  const byRater = [...Map.groupBy(rows, ({ annotator, signal }) => JSON.stringify([signal, annotator])).values()];
  byRater.sort((a, b) => b.length - a.length);
  const { turnOffsets, firstTurn, placeOf } = placesOf(rows);
  const dataset = await datasetsOf(db, runId, [...placeOf.keys()]);
  const failures = await failuresOf(db, runId);
  const raters = byRater.slice(0, MAX_RATERS).map((given): Rater => {
    const labels = new Float64Array(turnOffsets.at(-1)!).fill(NaN);
    for (const { trajectory, turn, label } of given) labels[firstTurn.get(trajectory)! + turn] = label;
    const [{ annotator, signal }] = given;
    const failed = new Uint8Array(dataset.length);
    for (const { trajectory } of failures.get(annotator) ?? []) {
      const at = placeOf.get(trajectory);
      if (at !== undefined) failed[at] = Number(!given.some((row) => row.trajectory === trajectory));
    }
    return { annotator, signal, labels, failed };
  });
  return { turnOffsets, dataset, raters, sampled: isCut || byRater.length > MAX_RATERS };
}

/** Of what each annotator gave to each turn, the last first: what is a label, −1, 0 or 1. */
function lastLabels(given: readonly Given[], signals: readonly string[]): Row[] {
  const seen = new Set<string>();
  return given.flatMap(({ signals: said, ...of }) =>
    signals.flatMap((signal) => {
      const label = said[signal];
      if (label !== -1 && label !== 0 && label !== 1) return [];
      const key = JSON.stringify([of.trajectory, of.annotator, of.turn, signal]);
      if (seen.has(key)) return [];
      seen.add(key);
      return [{ ...of, signal, label }];
    }),
  );
}

/** The data set that each trajectory says it is of. */
async function datasetsOf(db: Confined, runId: string, trajectories: readonly string[]): Promise<(string | null)[]> {
  const rows = await db.query<{ id: string; signals: Readonly<Record<string, unknown>> | null }>(
    `select id, signals from trajectory where run_id = $1 and id = any ($2) and superseded_at is null`,
    [runId, trajectories],
  );
  const said = new Map(rows.map(({ id, signals }) => [id, signals?.dataset]));
  return trajectories.map((id) => {
    const dataset = said.get(id);
    return typeof dataset === 'string' ? dataset : null;
  });
}

/** The trajectories of which annotators failed to say anything, by annotator. */
async function failuresOf(db: Confined, runId: string) {
  const rows = await db.query<{ annotator: string; trajectory: string }>(
    `select distinct annotator, trajectory_id as trajectory from annotation
     where run_id = $1 and status <> 'ok' and superseded_at is null limit $2`,
    [runId, MAX_LABELS],
  );
  return Map.groupBy(rows, ({ annotator }) => annotator);
}

/** Where the turns of each trajectory lie, as far as somebody labelled them. */
function placesOf(rows: readonly Row[]) {
  const turnCounts = new Map<string, number>();
  for (const { trajectory, turn } of rows) {
    turnCounts.set(trajectory, Math.max(turnCounts.get(trajectory) ?? 0, turn + 1));
  }
  const turnOffsets = new Int32Array(turnCounts.size + 1);
  const firstTurn = new Map<string, number>();
  [...turnCounts].forEach(([trajectory, turns], i) => {
    firstTurn.set(trajectory, turnOffsets[i]);
    turnOffsets[i + 1] = turnOffsets[i] + turns;
  });
  const placeOf = new Map([...turnCounts.keys()].map((trajectory, i) => [trajectory, i]));
  return { turnOffsets, firstTurn, placeOf };
}
