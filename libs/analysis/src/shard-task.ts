import type { Annotation } from '#lib/dataset';
import type { SaidTag } from '#lib/projection';
import type { ChosenEstimator } from './request.js';
import type { SegmentRows } from './result-key.js';

/** What a shard's row keeps of its plan. */
export interface ShardPlan {
  readonly asOf: number;
  readonly from: number;
  readonly segments: readonly SegmentRows[];
  readonly lastAnnotation: number | null;
  /** key of each estimator's result, by its place in the analysis */
  readonly results: readonly string[];
  readonly summary: string;
  readonly sampleRate: number;
  readonly leavesTokens?: boolean;
}

/** All that one shard's computation depends on. It travels to a thread as it is. */
export interface ShardTask {
  readonly runId: string;
  readonly trainingStep: number;
  readonly asOf: number;
  readonly from: number;
  readonly segments: readonly SegmentRows[];
  readonly annotations: readonly Annotation[];
  /** short texts that say of which kind a trajectory is; where they are not given, those of the text files if these are read */
  readonly tags?: readonly SaidTag[];
  readonly sampleRate: number;
  /**
   * true: there are values of tokens, and probably nobody asks for them. They stay in their files then, unless somebody does
   * after all: what is computed is the same
   */
  readonly leavesTokens?: boolean | undefined;
  readonly estimators: readonly (ChosenEstimator & {
    readonly key: string;
    /** what an earlier analysis found; null: to be computed */
    readonly known: 'credit' | 'missing' | null;
  })[];
}

export interface MissingSignal {
  readonly path: string;
  readonly rows: number;
  readonly of: number;
}

/** What became of one estimator in one shard. */
export type ShardResult = {
  readonly key: string;
  /** of the estimator, and of making its file; writing that is not counted */
  readonly seconds: number;
  /** what computed it: `cpu`, or a device of libs/tensor */
  readonly device: string;
} & (
  | { readonly kind: 'credit'; readonly sha256: string; readonly bytes: number; readonly warnings: readonly string[] }
  | { readonly kind: 'missing'; readonly missing: readonly MissingSignal[] }
  | { readonly kind: 'failed'; readonly reason: string }
);

export interface ShardAnswer {
  /** of the estimators that were to be computed */
  readonly results: readonly ShardResult[];
  readonly summary: Uint8Array;
  /** that of the results which is not `cpu`, if there is one */
  readonly device: string;
}

/** Where a credit file lies in the segment store. */
export const creditFileKey = (resultKey: string) => `credit/${resultKey.slice(0, 2)}/${resultKey}.arrow`;
