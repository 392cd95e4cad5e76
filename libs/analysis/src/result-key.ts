import { createHash } from 'node:crypto';
import { canonicalJson } from '#lib/kernel';
import type { ChosenEstimator } from './request.js';

/** What a shard reads: rows of segments, and the annotations up to a position. */
export interface ShardSource {
  readonly segments: readonly SegmentRows[];
  /** position of the last annotation that is joined in; null: none */
  readonly lastAnnotation: number | null;
}

/** Consecutive rows of one segment: those of the shard's training step that had ended before the analysis's position. */
export interface SegmentRows {
  readonly numericKey: string;
  readonly textKey: string;
  readonly sha256: string;
  readonly firstRow: number;
  readonly rowCount: number;
}

/** The address of a credit: equal inputs, estimator, version, params and identity of states give equal bytes, so the result may be shared. */
export function resultKey(
  runId: string,
  { segments, lastAnnotation }: ShardSource,
  { id, version, hash, params, states }: ChosenEstimator,
): string {
  const rows = segments.map(({ sha256, firstRow, rowCount }) => [sha256, firstRow, rowCount]);
  return sha256Of({
    runId,
    segments: rows,
    lastAnnotation,
    estimator: id,
    version,
    ...(hash && { hash }),
    params,
    ...(states && { states }),
  });
}

/** The address of a shard's comparison summary: the credits it compares, under which labels, and how much it samples. */
export function summaryKey(runId: string, results: readonly (readonly [string, string])[], sampleRate: number): string {
  return sha256Of({ summary: SUMMARY_VERSION, runId, results, sampleRate });
}

/** Goes up when the summary's content changes. */
const SUMMARY_VERSION = 3;

function sha256Of(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
