import { openSegment, stepBatch } from '#lib/columnar';
import { joinAnnotations, trajectoryBatch, type Annotation, type TrajectoryBatch } from '#lib/dataset';
import { assertNotErased } from '#lib/event-log';
import { RecreditError } from '#lib/kernel';
import { annotationsOf, finishedRecords, projectedPosition, segmentSlices } from '#lib/projection';
import type { Pool, SegmentStore } from '#lib/storage';

/** Where the trajectories of one training step are to be had. It travels to a thread as it is. */
export type StepSource =
  | {
      readonly kind: 'segments';
      readonly trainingStep: number;
      readonly asOf: number;
      readonly from: number;
      readonly files: readonly { readonly numericKey: string; readonly textKey: string }[];
      readonly annotations: readonly Annotation[];
    }
  | { readonly kind: 'batch'; readonly trajectories: TrajectoryBatch };

/**
 * The position that a request looks at a run as of: the one it asks for, or all that is projected.
 *
 * @throws RecreditError `run.erased`, `request.invalid`
 */
export async function positionToLookAt(pool: Pool, runId: string, asked: number | undefined): Promise<number> {
  await assertNotErased(pool, [runId]);
  const head = await projectedPosition(pool, runId);
  if (asked === undefined || asked <= head) return asked ?? head;
  throw new RecreditError('request.invalid', `asOf: a position up to ${head} was wanted, found ${asked}`);
}

/**
 * Finds one training step as of a position: in its segments, or, where some of it waits for one, in the log.
 *
 * @param trajectoryCount how many trajectories the step has as of this position
 */
export async function stepSource(
  pool: Pool,
  runId: string,
  trainingStep: number,
  asOf: number,
  trajectoryCount: number,
): Promise<StepSource> {
  const step = { first: trainingStep, last: trainingStep };
  const annotations = await annotationsOf(pool, runId, step, asOf);
  const slices = await segmentSlices(pool, runId, step, asOf);
  const inSegments = slices.reduce((sum, { rowCount }) => sum + rowCount, 0);
  if (inSegments === trajectoryCount) {
    const files = slices.map(({ numericKey, textKey }) => ({ numericKey, textKey }));
    return { kind: 'segments', trainingStep, asOf, from: slices[0]?.from ?? 0, files, annotations };
  }
  const records = [];
  for await (const page of finishedRecords(pool, runId, step, { asOf })) records.push(...page);
  return { kind: 'batch', trajectories: joinAnnotations(trajectoryBatch(records), annotations) };
}

/** The trajectories of a source, with their texts. */
export async function trajectoriesOf(store: SegmentStore, source: StepSource): Promise<TrajectoryBatch> {
  if (source.kind === 'batch') return source.trajectories;
  const { trainingStep, asOf, from, annotations } = source;
  const segments = await Promise.all(
    source.files.map(async ({ numericKey, textKey }) => {
      const [numeric, text] = await Promise.all([store.get(numericKey), store.get(textKey)]);
      return openSegment(numeric, text);
    }),
  );
  return stepBatch(segments, { trainingStep, asOf, from, annotations });
}
