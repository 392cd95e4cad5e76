import { estimate, findEstimator, type Estimate, type NoEstimate, type TrajectoryRecords } from '#lib/credit';
import { RecreditError } from '#lib/kernel';

/** What a thread is asked. */
export interface EstimateTask {
  readonly estimator: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly trajectories: TrajectoryRecords;
}

/** An error loses its class on the way between threads. */
export type EstimateAnswer =
  { readonly value: Estimate | NoEstimate } | { readonly problem: Pick<RecreditError, 'code' | 'message' | 'details'> };

export default function run({ estimator, params, trajectories }: EstimateTask): EstimateAnswer {
  try {
    return { value: estimate(findEstimator(estimator), trajectories, params) };
  } catch (error) {
    if (!(error instanceof RecreditError)) throw error;
    return { problem: { code: error.code, message: error.message, details: error.details } };
  }
}
