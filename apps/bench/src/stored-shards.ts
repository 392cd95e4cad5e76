import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ShardTask } from '#lib/analysis';
import { encodeSegment } from '#lib/columnar';
import { findEstimator } from '#lib/credit';
import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import { openSegmentStore, type SegmentStore } from '#lib/storage';
import { madeRecords, TURNS } from './made-records.js';

/** Trajectories of one training step: 20,480 turns, which is about a segment. */
const PER_STEP = 1_280;
export const TURNS_PER_STEP = PER_STEP * TURNS;

export interface StoredShards {
  readonly store: SegmentStore;
  /** URL of the store */
  readonly segments: string;
  readonly steps: number;
  readonly turns: number;
  /** what a shard's columns hold in memory */
  readonly trajectories: TrajectoryBatch;
  /** the shard of one training step, for one estimator */
  task(step: number, estimator: string): ShardTask;
}

/** A run's segments on disk, one training step each, for as long as `work` takes. */
export async function withShards<T>(turns: number, work: (shards: StoredShards) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'recredit-bench-'));
  try {
    const segments = pathToFileURL(folder).href;
    const store = await openSegmentStore(segments);
    const trajectories = trajectoryBatch(madeRecords(PER_STEP));
    const ends = Float64Array.from({ length: PER_STEP }, (_, i) => i);
    const steps = Math.max(1, Math.round(turns / TURNS_PER_STEP));
    for (let step = 0; step < steps; step++) {
      const trainingStep = new Int32Array(PER_STEP).fill(step);
      await store.put(keyOf(step), encodeSegment({ ...trajectories, trainingStep }, ends).numeric);
    }
    const task = (step: number, id: string): ShardTask => {
      const { version, params } = findEstimator(id);
      const parsed = params.parse({});
      const segment = { numericKey: keyOf(step), textKey: 'unread', sha256: '', firstRow: 0, rowCount: PER_STEP };
      return {
        runId: 'bench',
        trainingStep: step,
        asOf: Number.MAX_SAFE_INTEGER,
        from: 0,
        segments: [segment],
        annotations: [],
        sampleRate: 1 / steps,
        estimators: [{ label: id, id, version, params: parsed, key: `${id}-${step}`, known: null }],
      };
    };
    return await work({ store, segments, steps, turns: steps * TURNS_PER_STEP, trajectories, task });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const keyOf = (step: number) => `segments/bench/${String(step).padStart(6, '0')}.arrow`;
