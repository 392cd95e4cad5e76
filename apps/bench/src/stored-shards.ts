import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ShardTask } from '#lib/analysis';
import { encodeSegment } from '#lib/columnar';
import { findEstimator } from '#lib/credit';
import { levelOf, trajectoryBatch, type SignalColumn, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
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

/** Of tokens beside which credit is computed that asks for none. No log-probability, which a comparison asks for. */
const TOKEN_SIGNALS = ['entropy', 'value', 'reward', 'mask', 'loggedAdvantage'];

interface ShardsToStore {
  /** trajectories of a training step */
  readonly perStep?: number;
  /** of each turn, with five numbers each; the few of `madeRecords` if not said */
  readonly tokens?: number;
}

/** A run's segments on disk, one training step each, for as long as `work` takes. */
export async function withShards<T>(
  turns: number,
  work: (shards: StoredShards) => Promise<T>,
  { perStep = PER_STEP, tokens }: ShardsToStore = {},
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'recredit-bench-'));
  try {
    const segments = pathToFileURL(folder).href;
    const store = await openSegmentStore(segments);
    const made = trajectoryBatch(madeRecords(perStep));
    const trajectories = tokens === undefined ? made : withTokens(made, tokens);
    const ends = Float64Array.from({ length: perStep }, (_, i) => i);
    const steps = Math.max(1, Math.round(turns / (perStep * TURNS)));
    for (let step = 0; step < steps; step++) {
      const trainingStep = new Int32Array(perStep).fill(step);
      await store.put(keyOf(step), encodeSegment({ ...trajectories, trainingStep }, ends).numeric);
    }
    const task = (step: number, id: string): ShardTask => {
      const { version, params } = findEstimator(id);
      const parsed = params.parse({});
      const segment = { numericKey: keyOf(step), textKey: 'unread', sha256: '', firstRow: 0, rowCount: perStep };
      return {
        runId: 'bench',
        trainingStep: step,
        asOf: Number.MAX_SAFE_INTEGER,
        from: 0,
        segments: [segment],
        annotations: [],
        sampleRate: 1 / steps,
        leavesTokens: tokens !== undefined,
        estimators: [{ label: id, id, version, params: parsed, key: `${id}-${step}`, known: null }],
      };
    };
    return await work({ store, segments, steps, turns: steps * perStep * TURNS, trajectories, task });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function withTokens(made: TrajectoryBatch, tokens: number): TrajectoryBatch {
  const turns = made.stateKey.length;
  const others = [...made.columns].filter(([path]) => levelOf(path) !== 'token');
  const values = Float32Array.from({ length: turns * tokens }, (_, i) => (i % 7) / 7);
  const signals = TOKEN_SIGNALS.map((name) => [`token.${name}`, { kind: 'number', values }] as const);
  const tokenOffsets = Int32Array.from({ length: turns + 1 }, (_, turn) => turn * tokens);
  return { ...made, tokenOffsets, columns: new Map<SignalPath, SignalColumn>([...others, ...signals]) };
}

const keyOf = (step: number) => `segments/bench/${String(step).padStart(6, '0')}.arrow`;
