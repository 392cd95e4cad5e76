import type { AnyEstimator } from './estimator.js';
import { needsOf } from './needs.js';
import { paramsSchema, parseParams } from './run-estimator.js';
import { readsStates } from './state-identity.js';

/** What a catalogue shows of an estimator: its needs are those with its default params. */
export function describeEstimator(estimator: AnyEstimator) {
  const { id, version, title, status, gives, levels, groupRelative, citation } = estimator;
  const { requires, accepts } = needsOf(estimator, parseParams(estimator));
  const params = paramsSchema(estimator);
  const hash = estimator.hash ?? null;
  const device = estimator.device ?? 'cpu';
  return {
    id,
    version,
    hash,
    title,
    status,
    gives,
    levels,
    groupRelative,
    device,
    readsStates: readsStates(estimator),
    requires,
    accepts,
    params,
    citation,
  };
}
