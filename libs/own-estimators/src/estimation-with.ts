import {
  ESTIMATORS,
  runEstimator,
  type AnyEstimator,
  type IdentifiedStates,
  type Outcome,
  type StateIdentity,
} from '#lib/credit';
import { LEARNED_ESTIMATORS, Learner, learns } from '#lib/credit-learned';
import type { TrajectoryBatch } from '#lib/dataset';
import { canonicalJson } from '#lib/kernel';
import { listedEstimator, type OwnEstimator } from './own-estimator.js';
import type { OwnThread } from './own-thread.js';

/** Ours, those that learn, and users' own. */
export function catalogueWith(own: readonly OwnEstimator[]): readonly AnyEstimator[] {
  return [...ESTIMATORS, ...LEARNED_ESTIMATORS, ...own.map(listedEstimator)];
}

/**
 * All estimators there are, and how each is run: ours here, those that learn on a device, users' own in a thread that may
 * be ended. The states of a batch are identified once for all that read them alike.
 */
export function estimationWith(
  own: readonly OwnEstimator[],
  thread: Pick<OwnThread, 'run'>,
  learner: Pick<Learner, 'run' | 'identify'> = new Learner(),
) {
  const byHash = new Map(own.map((each) => [each.hash, each]));
  const identified = new WeakMap<TrajectoryBatch, Map<string, Promise<IdentifiedStates>>>();
  return {
    catalogue: catalogueWith(own),
    identify: (recorded: TrajectoryBatch, identity: StateIdentity): Promise<IdentifiedStates> => {
      const known = identified.get(recorded) ?? new Map<string, Promise<IdentifiedStates>>();
      identified.set(recorded, known);
      const name = canonicalJson(identity);
      const states = known.get(name) ?? learner.identify(recorded, identity);
      known.set(name, states);
      return states;
    },
    run: (
      estimator: AnyEstimator,
      trajectories: TrajectoryBatch,
      params: Readonly<Record<string, unknown>>,
    ): Outcome | Promise<Outcome> => {
      if (learns(estimator)) return learner.run(estimator, trajectories, params);
      const module = estimator.hash === undefined ? undefined : byHash.get(estimator.hash);
      return module ? thread.run(module, trajectories, params) : runEstimator(estimator, trajectories, params);
    },
  };
}
