import type { SignalPath } from '#lib/dataset';
import type { AnyEstimator } from './estimator.js';
import { namedSignals } from './needs.js';
import { parseParams } from './run-estimator.js';

/** Every signal that an estimator may read, whatever its params; of a param that names one, that of the default. */
export function signalsRead(estimator: AnyEstimator): ReadonlySet<SignalPath> {
  const { requires, accepts, conditional = [], signalParams = [] } = estimator;
  const defaults = signalParams.length > 0 ? parseParams(estimator) : {};
  return new Set([
    ...requires,
    ...accepts,
    ...conditional.flatMap((more) => [...(more.requires ?? []), ...(more.accepts ?? [])]),
    ...namedSignals(estimator, defaults),
  ]);
}

/** The ids of the estimators that read each signal, in the order of the catalogue. */
export function readersOfSignals(estimators: readonly AnyEstimator[]): ReadonlyMap<string, readonly string[]> {
  const readers = new Map<string, string[]>();
  for (const estimator of estimators) {
    for (const path of signalsRead(estimator)) {
      const ids = readers.get(path) ?? [];
      readers.set(path, ids);
      ids.push(estimator.id);
    }
  }
  return readers;
}
