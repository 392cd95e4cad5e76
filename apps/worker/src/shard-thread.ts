import { computeShard, type Estimation, type ShardAnswer, type ShardTask } from '#lib/analysis';
import {
  auditTask,
  measureTask,
  type AuditedStep,
  type AuditTask,
  type MeasuredDiagnostic,
  type MeasureTask,
} from '#lib/diagnosis';
import { comparisonOf, decodeSummary, type Comparison } from '#lib/diagnostics';
import { Learner } from '#lib/credit-learned';
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
  /** what learns computes on */
  readonly device: DeviceWish;
}

/** What a thread needs to measure a training step. */
export interface MeasureThreadTask {
  readonly segments: string;
  readonly task: MeasureTask;
}

/** What a thread needs to audit one. */
export interface AuditThreadTask {
  readonly segments: string;
  readonly task: AuditTask;
}

// What takes long runs in a thread of the pool, so that the worker's event loop stays free for heartbeats.

let estimation: Estimation | null = null;

/** A thread opens its device when the first estimator that learns comes to it. */
function ours(): Estimation {
  const { ownEstimators, device } = workerData as ThreadData;
  return (estimation ??= estimationWith(ownEstimators, new OwnThread(), new Learner(device)));
}

export async function compute({ segments, task }: ThreadTask): Promise<ShardAnswer> {
  return computeShard(await openSegmentStore(segments), task, ours());
}

export function conclude(summary: Uint8Array): Comparison {
  return comparisonOf(decodeSummary(summary));
}

export async function measure({ segments, task }: MeasureThreadTask): Promise<MeasuredDiagnostic[]> {
  return measureTask(await openSegmentStore(segments), task);
}

export async function audit({ segments, task }: AuditThreadTask): Promise<AuditedStep> {
  return auditTask(await openSegmentStore(segments), task, ours().catalogue);
}
