import { missingText, type AnyEstimator } from '#lib/credit';
import { numbers, type TrajectoryBatch } from '#lib/dataset';
import {
  auditStep,
  claimOf,
  otherEstimators,
  type ClaimedEstimator,
  type Logged,
  type StepAudit,
} from '#lib/diagnostics';
import type { SegmentStore } from '#lib/storage';
import { OpenSegments, type StepSource } from './load-step.js';

/** All that the audit of some training steps depends on. It travels to a thread as it is. */
export interface AuditTask {
  /** one for each training step */
  readonly sources: readonly StepSource[];
  readonly claimed: ClaimedEstimator;
  /** name of the signal with the trainer's own advantages, per turn or per token */
  readonly signal: string;
}

/** What the audit of one training step says. */
export interface AuditedStep {
  /** null: nothing was logged, or the claim could not be recomputed */
  readonly audit: StepAudit | null;
  /** estimators that give what was logged, where no formula explains it */
  readonly otherEstimators: readonly string[];
  /** why it could not be recomputed */
  readonly missing: string | null;
}

/** Audits training steps, each segment being opened once. In the order of their sources. */
export async function auditTask(
  store: SegmentStore,
  { sources, ...asked }: AuditTask,
  estimators?: readonly AnyEstimator[],
): Promise<AuditedStep[]> {
  const segments = new OpenSegments(store);
  const audited: AuditedStep[] = [];
  for (const source of sources) audited.push(auditedStep(await segments.trajectoriesOf(source), asked, estimators));
  return audited;
}

function auditedStep(
  trajectories: TrajectoryBatch,
  { claimed, signal }: Pick<AuditTask, 'claimed' | 'signal'>,
  estimators?: readonly AnyEstimator[],
): AuditedStep {
  const logged = loggedBy(trajectories, signal);
  if (!logged) return { audit: null, otherEstimators: [], missing: null };
  const claim = claimOf(trajectories, claimed, logged, estimators);
  if ('missing' in claim) return { audit: null, otherEstimators: [], missing: missingText(claim.missing) };
  const audit = auditStep(trajectories, claim, logged);
  const isOpen = audit?.verdict === 'unexplained' || audit?.verdict === 'varies-within-trajectory';
  const others = isOpen ? otherEstimators(trajectories, logged, claimed.id, estimators) : [];
  return { audit, otherEstimators: others, missing: null };
}

/** What the trainer logged: per token where it did so, else per turn, else per trajectory as a number on each turn. */
function loggedBy(trajectories: TrajectoryBatch, signal: string): Logged | null {
  for (const level of ['token', 'turn'] as const) {
    const values = numbers(trajectories, `${level}.${signal}`);
    if (values?.some((value) => !Number.isNaN(value))) return { level, values };
  }
  const values = numbers(trajectories, `trajectory.${signal}`);
  if (!values?.some((value) => !Number.isNaN(value))) return null;
  const { turnOffsets } = trajectories;
  const perTurn = new Float64Array(turnOffsets.at(-1)!);
  for (let i = 0; i < values.length; i++) perTurn.fill(values[i], turnOffsets[i], turnOffsets[i + 1]);
  return { level: 'turn', values: perTurn };
}
