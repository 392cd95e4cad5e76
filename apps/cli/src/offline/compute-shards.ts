import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  chooseEstimators,
  computeShard,
  type Estimation,
  type EstimatorWish,
  type ShardAnswer,
  type ShardTask,
} from '#lib/analysis';
import type { StateIdentity } from '#lib/credit';
import { comparisonOf, decodeSummary, mergeSummaries, sampleRateFor, type Comparison } from '#lib/diagnostics';
import { RecreditError } from '#lib/kernel';
import type { SegmentStore } from '#lib/storage';
import type { StepRange } from '../options.js';
import type { SegmentPaths } from './segment-files.js';

export interface ShardsToCompute {
  /** names the run in the comparison, and decides with it what a sample holds */
  readonly run: string;
  readonly segments: readonly SegmentPaths[];
  readonly estimators: readonly EstimatorWish[];
  /** the estimators there are, and how they are run */
  readonly estimation: Estimation;
  /** which states are the same; as they were recorded if not said */
  readonly states?: StateIdentity | undefined;
  readonly steps?: StepRange | undefined;
  /** folder */
  readonly output: string;
}

export interface ComputedShard {
  readonly trainingStep: number;
  readonly trajectories: number;
  /** relative to the output */
  readonly summary: string;
  readonly credit: readonly { readonly estimator: string; readonly file: string; readonly sha256: string }[];
  readonly missing: readonly (MissingSignal & { readonly estimator: string })[];
  readonly failed: readonly { readonly estimator: string; readonly reason: string }[];
}

type MissingSignal = { readonly path: string; readonly rows: number; readonly of: number };

/**
 * Computes shards from files to files, one per training step: credit in `step-<n>/<estimator>.arrow`, a mergeable summary
 * in `step-<n>/summary.bin`, and the comparison over all of them in `comparison.json`.
 */
export async function computeShards(
  wish: ShardsToCompute,
  onShard: (done: number, total: number) => void = () => {},
): Promise<{ shards: ComputedShard[]; comparison: Comparison }> {
  const { segments, output } = wish;
  const estimators = chooseEstimators(wish.estimators, wish.estimation.catalogue, wish.states).map((estimator) => ({
    ...estimator,
    key: estimator.label.replace(':', '-'),
    known: null,
  }));
  const sampleRate = sampleRateFor(segments.reduce((sum, { turns }) => sum + turns, 0));
  const steps = trainingSteps(segments, wish.steps);
  const shards: ComputedShard[] = [];
  const summaries: Uint8Array[] = [];
  for (const trainingStep of steps) {
    onShard(shards.length, steps.length);
    const folder = join(output, `step-${trainingStep}`);
    await mkdir(folder, { recursive: true });
    const rest = { asOf: Number.MAX_SAFE_INTEGER, from: 0, annotations: [], sampleRate, estimators };
    const task = { runId: wish.run, trainingStep, segments: sourcesOf(segments, trainingStep), ...rest };
    const answer = await computeShard(filesAsStore(folder), task, wish.estimation);
    await writeFile(join(folder, 'summary.bin'), answer.summary);
    summaries.push(answer.summary);
    shards.push(describedShard(task, answer, rowsOf(segments, trainingStep)));
  }
  const comparison = comparisonOf(mergeSummaries(...summaries.map(decodeSummary)));
  await writeFile(join(output, 'comparison.json'), `${JSON.stringify(comparison)}\n`);
  return { shards, comparison };
}

function trainingSteps(segments: readonly SegmentPaths[], { from = 0, to = Infinity }: StepRange = {}): number[] {
  const all = new Set(segments.flatMap(({ steps }) => steps.map(({ trainingStep }) => trainingStep)));
  const wanted = [...all].filter((step) => step >= from && step <= to).toSorted((a, b) => a - b);
  if (wanted.length > 0) return wanted;
  throw new RecreditError('request.invalid', `the segments hold none of these training steps: ${[...all].join(', ')}`);
}

function sourcesOf(segments: readonly SegmentPaths[], trainingStep: number): ShardTask['segments'] {
  return segments
    .filter(({ steps }) => steps.some((step) => step.trainingStep === trainingStep))
    .map(({ numeric, text }) => ({ numericKey: numeric, textKey: text, sha256: '', firstRow: 0, rowCount: 0 }));
}

function rowsOf(segments: readonly SegmentPaths[], trainingStep: number): number {
  const steps = segments.flatMap(({ steps }) => steps).filter((step) => step.trainingStep === trainingStep);
  return steps.reduce((sum, { rowCount }) => sum + rowCount, 0);
}

function describedShard(
  { trainingStep, estimators }: ShardTask,
  { results }: ShardAnswer,
  trajectories: number,
): ComputedShard {
  const folder = `step-${trainingStep}`;
  const labelOf = new Map(estimators.map(({ key, label }) => [key, label]));
  return {
    trainingStep,
    trajectories,
    summary: `${folder}/summary.bin`,
    credit: results.flatMap((result) => {
      if (result.kind !== 'credit') return [];
      const { key, sha256 } = result;
      return [{ estimator: labelOf.get(key)!, file: `${folder}/${key}.arrow`, sha256 }];
    }),
    missing: results.flatMap((result) => {
      if (result.kind !== 'missing') return [];
      return result.missing.map((missing) => ({ estimator: labelOf.get(result.key)!, ...missing }));
    }),
    failed: results.flatMap((result) => {
      if (result.kind !== 'failed') return [];
      return [{ estimator: labelOf.get(result.key)!, reason: result.reason }];
    }),
  };
}

/** Plain files where a shard expects a store: segments are read by their paths, credit goes into one folder. */
function filesAsStore(folder: string): SegmentStore {
  const unused = () => Promise.reject(new TypeError('a shard only reads segments and writes credit'));
  return {
    get: (path) => readFile(path),
    put: async (key, bytes) => {
      const path = join(folder, basename(key));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, bytes);
    },
    exists: unused,
    list: unused,
    probe: unused,
    delete: unused,
  };
}
