import { findEstimator, missingText, parseParams, runEstimator, turnCredit } from '#lib/credit';
import { trajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import type { TrajectoryRecord } from '#lib/protocol';

/** The advantages of one training step. NaN: the estimator says nothing, and nothing is learned from it. */
export interface StepCredit {
  /** [turns] of all records, in order */
  readonly turn: Float64Array;
  /** [tokens] of all records, in order; null where all tokens of a turn share the turn's */
  readonly token: Float64Array | null;
}

/** Judges the rollouts of a whole training step. */
export type AssignCredit = (records: readonly TrajectoryRecord[]) => StepCredit;

/** Credit by an estimator of the library. What is wrong with its name or params is said here, before any rollout. */
export function creditBy(estimatorId: string, rawParams: unknown = {}): AssignCredit {
  const estimator = findEstimator(estimatorId);
  parseParams(estimator, rawParams);
  return (records) => {
    const trajectories = trajectoryBatch(records);
    const outcome = runEstimator(estimator, trajectories, rawParams);
    if (outcome.kind === 'missing') {
      throw new RecreditError('params.invalid', `${estimatorId} cannot train here: ${missingText(outcome.missing)}`);
    }
    const { credit } = outcome;
    return { turn: turnCredit(trajectories, credit), token: credit.level === 'token' ? credit.values : null };
  };
}
