import { countedSlices, lastAnnotations } from '#lib/projection';
import type { Queryable } from '#lib/storage';
import type { ShardSource } from './result-key.js';

/** The trajectories of one training step of a run, as of a position. */
export interface StepSource extends ShardSource {
  readonly trainingStep: number;
  /** position: what ended before it was superseded by a rewind; 0: nothing was */
  readonly from: number;
  readonly trajectoryCount: number;
  readonly turnCount: number;
}

const LAST_STEP = 2_147_483_647;

/**
 * What each training step of a run holds, ascending: finished trajectories that had ended before `asOf` and that no
 * rewind before `asOf` superseded. Reads the index of the segments, not the segments.
 */
export async function stepSources(
  db: Queryable,
  runId: string,
  asOf: number,
  { from = 0, to = LAST_STEP }: { readonly from?: number | undefined; readonly to?: number | undefined } = {},
): Promise<StepSource[]> {
  const range = { first: from, last: to };
  const slices = await countedSlices(db, runId, range, asOf);
  const annotations = await lastAnnotations(db, runId, range, asOf);
  return [...Map.groupBy(slices, ({ trainingStep }) => trainingStep)].map(([trainingStep, parts]) => ({
    trainingStep,
    from: parts[0].from,
    segments: parts.map(({ numericKey, textKey, numericSha256, firstRow, rowCount }) => ({
      numericKey,
      textKey,
      sha256: numericSha256,
      firstRow,
      rowCount,
    })),
    lastAnnotation: annotations.get(trainingStep) ?? null,
    trajectoryCount: parts.reduce((sum, { rowCount }) => sum + rowCount, 0),
    turnCount: parts.reduce((sum, { turnCount }) => sum + turnCount, 0),
  }));
}
