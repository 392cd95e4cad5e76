import {
  enterEstimator,
  identifyStates,
  leaveEstimator,
  type AnyEstimator,
  type IdentifiedStates,
  type Outcome,
  type StateIdentity,
} from '#lib/credit';
import type { TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import { Devices, type Computed, type DeviceWish } from '#lib/tensor';
import { embeddedStates } from './embedded-states.js';
import { LEARNED_ESTIMATORS } from './estimators/index.js';
import type { LearnedEstimator } from './learned-estimator.js';
import { nearestTurns, type NearTurns, type SoughtState } from './nearest-turns.js';

type Params = Readonly<Record<string, unknown>>;

/**
 * Runs estimators that learn, and compares states, on the first device that is there. Nothing is loaded before the first of
 * these. When a device fails, the next one tries once, and the credit says so.
 */
export class Learner {
  readonly #devices: Devices;

  constructor(wish: DeviceWish | Devices = 'auto') {
    this.#devices = wish instanceof Devices ? wish : new Devices(wish);
  }

  /** @throws RecreditError `device.unavailable`; what the device threw, where there is no other */
  async run(estimator: AnyEstimator, trajectories: TrajectoryBatch, rawParams: Params = {}): Promise<Outcome> {
    const learned = learnedOf(estimator);
    const entry = enterEstimator(learned, trajectories, rawParams);
    if (entry.kind === 'missing') return entry;
    const { value, device, warnings } = await this.#devices.compute((on) =>
      learned.learn(on, trajectories, entry.columns as never, entry.params as never),
    );
    const outcome = leaveEstimator(learned, trajectories, value);
    return outcome.kind === 'missing' ? outcome : { ...outcome, warnings: [...warnings, ...outcome.warnings], device };
  }

  /** `identifyStates` by any identity. @throws as `run` */
  async identify(trajectories: TrajectoryBatch, identity: StateIdentity): Promise<IdentifiedStates> {
    if (identity.by !== 'embedding') return { trajectories: identifyStates(trajectories, identity), warnings: [] };
    const { value, device, warnings } = await this.#devices.compute((on) =>
      embeddedStates(on, trajectories, identity.threshold),
    );
    return {
      trajectories: identifyStates(trajectories, identity, value.labels),
      device,
      warnings: [...warnings, ...value.warnings],
    };
  }

  /** `nearestTurns` on the device. @throws as `run` */
  nearest(
    trajectories: TrajectoryBatch,
    sought: SoughtState,
    sets: readonly Int32Array[],
    k: number,
  ): Promise<Computed<NearTurns[]>> {
    return this.#devices.compute((on) => nearestTurns(on, trajectories, sought, sets, k));
  }
}

/** Whether an estimator of the catalogue is run by a learner. */
export const learns = ({ device }: Pick<AnyEstimator, 'device'>) => device === 'tensor';

function learnedOf({ id }: AnyEstimator): LearnedEstimator {
  const learned = LEARNED_ESTIMATORS.find((each) => each.id === id);
  if (!learned) throw new RecreditError('internal.error', `${id} does not learn`);
  return learned;
}
