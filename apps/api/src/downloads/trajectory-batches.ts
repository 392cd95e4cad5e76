import { openSegment, readHead, stepBatch, type Segment } from '#lib/columnar';
import { joinAnnotations, trajectoryBatch, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import {
  annotationsOf,
  finishedRecords,
  projectedPosition,
  segmentSlices,
  type SegmentSlice,
  type StepRange,
} from '#lib/projection';
import type { Queryable, SegmentStore } from '#lib/storage';

/** Signals of trajectories and turns that are numbers, wherever they came from: the columns of a download. */
export async function numericSignals(db: Queryable, runId: string): Promise<SignalPath[]> {
  const { rows } = await db.query(
    `select distinct level || '.' || name as path from signal_summary
     where run_id = $1 and level in ('trajectory', 'turn') and numbers > 0 order by path`,
    [runId],
  );
  return rows.map(({ path }: { path: SignalPath }) => path);
}

/**
 * The finished trajectories of some training steps, ascending, with texts and annotations, without the values of tokens, no
 * more than one step in memory. They are read from segments; where some of a step wait for theirs the step is read from the log.
 */
export async function* trajectoryBatches(
  db: Queryable,
  store: SegmentStore,
  runId: string,
  range: StepRange,
): AsyncGenerator<TrajectoryBatch> {
  const asOf = await projectedPosition(db, runId);
  // first what waits: what is cut in between is then read from the log, and not missed
  const waiting = await waitingSteps(db, runId, range);
  const slices = Map.groupBy(await segmentSlices(db, runId, range, asOf), ({ trainingStep }) => trainingStep);
  const steps = [...new Set([...slices.keys(), ...waiting])].toSorted((a, b) => a - b);
  const segments = new OpenSegments(store);
  for (const trainingStep of steps) {
    const step = { first: trainingStep, last: trainingStep };
    const annotations = await annotationsOf(db, runId, step, asOf);
    const ofStep = slices.get(trainingStep);
    if (ofStep && !waiting.has(trainingStep)) {
      const [{ from }] = ofStep;
      yield stepBatch(await segments.of(ofStep), { trainingStep, asOf, from, annotations });
    } else {
      for await (const records of finishedRecords(db, runId, step)) {
        yield joinAnnotations(trajectoryBatch(records), annotations);
      }
    }
  }
}

/** Training steps with finished trajectories that are in no segment yet. */
async function waitingSteps(db: Queryable, runId: string, { first, last }: StepRange): Promise<ReadonlySet<number>> {
  const { rows } = await db.query(
    `select distinct training_step as step from trajectory
     where run_id = $1 and training_step between $2 and $3 and superseded_at is null and end_position >=
       coalesce((select end_position from segment where run_id = $1 order by ordinal desc limit 1), 0)`,
    [runId, first, last],
  );
  return new Set(rows.map(({ step }: { step: number }) => step));
}

/** Keeps the segments of the last step open, since the next step often lies in one of them. */
class OpenSegments {
  #open = new Map<string, Segment>();

  constructor(private readonly store: SegmentStore) {}

  async of(slices: readonly SegmentSlice[]): Promise<Segment[]> {
    const wanted = new Set(slices.map(({ numericKey }) => numericKey));
    for (const key of this.#open.keys()) if (!wanted.has(key)) this.#open.delete(key);
    const segments: Segment[] = [];
    for (const { numericKey, textKey } of slices) {
      const [numeric, text] = this.#open.has(numericKey)
        ? []
        : await Promise.all([readHead(this.store, numericKey), readHead(this.store, textKey)]);
      if (numeric) this.#open.set(numericKey, openSegment(numeric, text));
      segments.push(this.#open.get(numericKey)!);
    }
    return segments;
  }
}
