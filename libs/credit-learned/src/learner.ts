import { enterEstimator, leaveEstimator, type AnyEstimator, type Outcome } from '#lib/credit';
import type { TrajectoryBatch } from '#lib/dataset';
import { messageOf, RecreditError } from '#lib/kernel';
import { Devices, type Device, type DeviceWish } from '#lib/tensor';
import { LEARNED_ESTIMATORS } from './estimators/index.js';
import type { AnyLearnedEstimator } from './learned-estimator.js';

/**
 * Runs estimators that learn, on the first device that is there. Nothing is loaded before the first of them runs. When a
 * device fails, the next one tries once, and the credit says so.
 */
export class Learner {
  readonly #devices: Devices;

  constructor(wish: DeviceWish | Devices = 'auto') {
    this.#devices = wish instanceof Devices ? wish : new Devices(wish);
  }

  /** @throws RecreditError `device.unavailable`; what the device threw, where there is no other */
  async run(
    estimator: AnyEstimator,
    trajectories: TrajectoryBatch,
    rawParams: Readonly<Record<string, unknown>> = {},
  ): Promise<Outcome> {
    const learned = learnedOf(estimator);
    const entry = enterEstimator(learned, trajectories, rawParams);
    if (entry.kind === 'missing') return entry;
    const learn = async () => {
      const device = await this.#devices.current();
      try {
        const credit = await learned.learn(device, trajectories, entry.columns as never, entry.params as never);
        return { device, credit, failure: null };
      } catch (error) {
        if (error instanceof RecreditError) throw error; // ours, and the same anywhere
        if (!this.#devices.fail(device, messageOf(error))) throw error;
        return { device, credit: null, failure: messageOf(error) };
      }
    };
    const first = await learn();
    const last = first.credit ? first : await learn();
    if (!last.credit) throw new Error(`${first.device.id}: ${first.failure}; ${last.device.id}: ${last.failure}`);
    const outcome = leaveEstimator(learned, trajectories, last.credit);
    if (outcome.kind === 'missing') return outcome;
    const retried =
      first === last ? [] : [`${first.device.id} failed (${first.failure}): computed on ${last.device.id}`];
    return { ...outcome, warnings: [...retried, ...outcome.warnings], device: nameOf(last.device) };
  }
}

/** What stands on a result: of a GPU behind WebGPU also which one it was. */
const nameOf = ({ id, description }: Device) => (id === 'webgpu' ? `${id} (${description})` : id);

/** Whether an estimator of the catalogue is run by a learner. */
export const learns = ({ device }: Pick<AnyEstimator, 'device'>) => device === 'tensor';

function learnedOf({ id }: AnyEstimator): AnyLearnedEstimator {
  const learned = LEARNED_ESTIMATORS.find((each) => each.id === id);
  if (!learned) throw new RecreditError('internal.error', `${id} does not learn`);
  return learned;
}
