import { ESTIMATORS, type AnyEstimator } from '#lib/credit';
import type { TrajectoryBatch } from '#lib/dataset';
import { auditStep, type Logged } from './audit-step.js';
import { claimOf } from './claim-of.js';

/**
 * Which estimators of the catalogue, with their default params, give exactly what was logged: what a trainer really used
 * when it is not what it says. An estimator whose signals are missing, or that fails here, is passed over.
 *
 * @returns ids, in the order of the catalogue
 */
export function otherEstimators(
  trajectories: TrajectoryBatch,
  logged: Logged,
  claimed: string,
  estimators: readonly AnyEstimator[] = ESTIMATORS,
): string[] {
  return estimators
    .filter(
      ({ id, gives, hash, device }) =>
        id !== claimed && !hash && !device && (gives === 'advantage' || gives === 'return'),
    )
    .filter(({ id }) => explains(trajectories, logged, id, estimators))
    .map(({ id }) => id);
}

function explains(
  trajectories: TrajectoryBatch,
  logged: Logged,
  id: string,
  estimators: readonly AnyEstimator[],
): boolean {
  try {
    const claim = claimOf(trajectories, { id, params: {} }, logged, estimators);
    if ('missing' in claim) return false;
    const hasSignal = claim.advantage.some((value) => value !== 0 && !Number.isNaN(value));
    return hasSignal && auditStep(trajectories, claim, logged)?.verdict === 'match';
  } catch {
    return false;
  }
}
