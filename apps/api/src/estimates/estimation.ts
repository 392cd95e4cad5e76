import type { AnyEstimator, Estimate, NoEstimate, TrajectoryRecords } from '#lib/credit';
import { RecreditError } from '#lib/kernel';
import { OwnThread, type OwnEstimator } from '#lib/own-estimators';
import { Piscina } from 'piscina';
import type { EstimateAnswer, EstimateTask } from './estimate-thread.js';

const THREAD = new URL('./estimate-thread.js', import.meta.url).href;
/** A trainer waits for the answer; what takes longer is an analysis. */
const MAX_SECONDS = 30;
const MAX_WAITING = 16;

/** Credit for records, beside the requests that are answered: in threads that are ended when they take too long. */
export class Estimation {
  readonly #threads = new Piscina({
    filename: THREAD,
    minThreads: 0,
    maxThreads: 2,
    maxQueue: MAX_WAITING,
    idleTimeout: 60_000,
  });
  readonly #ownThread = new OwnThread();

  /** @param maxSeconds of one estimate */
  constructor(
    private readonly own: readonly OwnEstimator[] = [],
    private readonly maxSeconds = MAX_SECONDS,
  ) {}

  /** @throws RecreditError what the estimator says, `query.too-costly` after 30 s, `capacity.exceeded` */
  async estimate(
    { id, hash }: AnyEstimator,
    trajectories: TrajectoryRecords,
    params: Readonly<Record<string, unknown>>,
  ): Promise<Estimate | NoEstimate> {
    const module = hash === undefined ? undefined : this.own.find((each) => each.hash === hash);
    if (module) return this.#ownThread.estimate(module, trajectories, params);
    const answer = await this.#run({ estimator: id, params, trajectories });
    if ('value' in answer) return answer.value;
    const { code, message, details } = answer.problem;
    throw new RecreditError(code, message, details);
  }

  async close(): Promise<void> {
    await Promise.all([this.#threads.destroy(), this.#ownThread.close()]);
  }

  async #run(task: EstimateTask): Promise<EstimateAnswer> {
    if (this.#threads.queueSize >= MAX_WAITING) {
      const details = { retryAfterSeconds: 1 };
      throw new RecreditError('capacity.exceeded', `${MAX_WAITING} estimates wait already`, details);
    }
    const signal = AbortSignal.timeout(this.maxSeconds * 1_000);
    try {
      return (await this.#threads.run(task, { signal })) as EstimateAnswer;
    } catch (cause) {
      if (!signal.aborted) throw cause;
      const why = `${task.estimator} took more than ${this.maxSeconds} s: send fewer trajectories, or start an analysis`;
      throw new RecreditError('query.too-costly', why, { seconds: this.maxSeconds }, { cause });
    }
  }
}
