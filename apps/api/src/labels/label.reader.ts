import type { Confined } from '#lib/access';
import type { Rater } from '#lib/diagnostics';

interface Row {
  readonly trajectory: string;
  readonly annotator: string;
  readonly signal: string;
  readonly turn: number;
  readonly label: number;
  readonly dataset: string | null;
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
  const found = await db.query<Row>(
    `select distinct on (md5(trajectory_id), trajectory_id, annotator, signal, turn)
       trajectory_id as trajectory, annotator, signal, turn, (annotation.signals ->> signal)::float8 as label,
       case when json_typeof(trajectory.signals) = 'object' then trajectory.signals ->> 'dataset' end as dataset
     from annotation
     join trajectory on trajectory.run_id = annotation.run_id and trajectory.id = annotation.trajectory_id
     cross join unnest($2::text[]) as wanted(signal)
     where annotation.run_id = $1 and turn is not null and annotation.status = 'ok'
       and annotation.superseded_at is null and trajectory.superseded_at is null
       and json_typeof(annotation.signals -> signal) = 'number' and annotation.signals ->> signal in ('-1', '0', '1')
     order by md5(trajectory_id), trajectory_id, annotator, signal, turn, position desc, item desc limit $3`,
    [runId, signals, MAX_LABELS + 1],
  );
  const isCut = found.length > MAX_LABELS;
  const rows = isCut ? found.filter(({ trajectory }) => trajectory !== found.at(-1)!.trajectory) : found;
  const byRater = [...Map.groupBy(rows, ({ annotator, signal }) => JSON.stringify([signal, annotator])).values()];
  byRater.sort((a, b) => b.length - a.length);
  const { turnOffsets, firstTurn, placeOf, dataset } = placesOf(rows);
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
  const datasetOf = new Map<string, string | null>();
  for (const { trajectory, turn, dataset } of rows) {
    turnCounts.set(trajectory, Math.max(turnCounts.get(trajectory) ?? 0, turn + 1));
    datasetOf.set(trajectory, dataset);
  }
  const turnOffsets = new Int32Array(turnCounts.size + 1);
  const firstTurn = new Map<string, number>();
  [...turnCounts].forEach(([trajectory, turns], i) => {
    firstTurn.set(trajectory, turnOffsets[i]);
    turnOffsets[i + 1] = turnOffsets[i] + turns;
  });
  const placeOf = new Map([...turnCounts.keys()].map((trajectory, i) => [trajectory, i]));
  return { turnOffsets, firstTurn, placeOf, dataset: [...datasetOf.values()] };
}
