import { computeShard, type Estimation, type ShardAnswer, type ShardTask } from '#lib/analysis';
import {
  auditTask,
  measureTask,
  nearestTask,
  seekTask,
  type AuditedStep,
  type AuditTask,
  type MeasuredFigures,
  type MeasureTask,
  type NearestInStep,
  type NearestTask,
  type SeekTask,
} from '#lib/diagnosis';
import { comparisonOf, decodeSummary, type Comparison } from '#lib/diagnostics';
import { Learner, type SoughtState } from '#lib/credit-learned';
import { estimationWith, OwnThread, type OwnEstimator } from '#lib/own-estimators';
import { openSegmentStore } from '#lib/storage';
import type { DeviceWish } from '#lib/tensor';
import { workerData } from 'piscina';

/** What a thread needs to compute a shard. */
export interface ThreadTask {
  readonly segments: string;
  readonly task: ShardTask;
}

/** What every thread knows from its start. */
export interface ThreadData {
  readonly ownEstimators: readonly OwnEstimator[];
  /** what learns or compares states computes on */
  readonly device: DeviceWish;
}

/** What a thread needs to measure training steps. */
export interface MeasureThreadTask {
  readonly segments: string;
  readonly task: MeasureTask;
}

/** What a thread needs to audit some. */
export interface AuditThreadTask {
  readonly segments: string;
  readonly task: AuditTask;
}

/** What a thread needs to read the state that turns are compared with. */
export interface SeekThreadTask {
  readonly segments: string;
  readonly task: SeekTask;
}

/** What a thread needs to search training steps. */
export interface NearestThreadTask {
  readonly segments: string;
  readonly task: NearestTask;
}

// What takes long runs in a thread of the pool, so that the worker's event loop stays free for heartbeats.

/** A bucket that is away for some seconds costs none of the few tries of a shard. */
const PATIENCE_MS = 30_000;

const storeOf = (segments: string) => openSegmentStore(segments, { patienceMs: PATIENCE_MS });

let learner: Learner | null = null;
let estimation: Estimation | null = null;

/** A thread opens its device when the first task that needs one comes to it. */
function learning(): Learner {
  return (learner ??= new Learner((workerData as ThreadData).device));
}

function ours(): Estimation {
  const { ownEstimators } = workerData as ThreadData;
  return (estimation ??= estimationWith(ownEstimators, new OwnThread(), learning()));
}

export async function compute({ segments, task }: ThreadTask): Promise<ShardAnswer> {
  return computeShard(await storeOf(segments), task, ours());
}

export function conclude(summary: Uint8Array): Comparison {
  return comparisonOf(decodeSummary(summary));
}

export async function measure({ segments, task }: MeasureThreadTask): Promise<MeasuredFigures[]> {
  return measureTask(await storeOf(segments), task);
}

export async function audit({ segments, task }: AuditThreadTask): Promise<AuditedStep[]> {
  return auditTask(await storeOf(segments), task, ours().catalogue);
}

export async function seek({ segments, task }: SeekThreadTask): Promise<SoughtState | null> {
  return seekTask(await storeOf(segments), task);
}

export async function nearest({ segments, task }: NearestThreadTask): Promise<NearestInStep[]> {
  return nearestTask(await storeOf(segments), task, learning());
}
