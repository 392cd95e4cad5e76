import { meantInstead, RecreditError } from '#lib/kernel';
import type { AnyEstimator } from './estimator.js';
import { ESTIMATORS } from './estimators/index.js';

/** The estimator of an id; `estimator.unknown` names the nearest, or those there are. */
export function findEstimator(id: string, estimators: readonly AnyEstimator[] = ESTIMATORS): AnyEstimator {
  const found = estimators.find((estimator) => estimator.id === id);
  if (found) return found;
  const known = estimators.map((estimator) => estimator.id);
  throw new RecreditError('estimator.unknown', `no estimator ${id}${meantInstead(id, known)}`, { id, known });
}
