import {
  AS_RECORDED,
  ESTIMATORS,
  findEstimator,
  parseParams,
  statesOf,
  type AnyEstimator,
  type StateIdentity,
} from '#lib/credit';
import { canonicalJson, RecreditError } from '#lib/kernel';

/** One estimator of an analysis, with every param said: defaults are part of the request, so that it stays what it was. */
export interface ChosenEstimator {
  /** names it inside the analysis: its id, or `id:2`, `id:3` where the same one is asked for with other params */
  readonly label: string;
  readonly id: string;
  readonly version: number;
  /** of a user's own estimator: the version of its file */
  readonly hash?: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** which states count as the same, where the estimator reads them and it is not as they were recorded */
  readonly states?: StateIdentity;
}

export interface EstimatorWish {
  readonly id: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

export interface AnalysisRequest {
  readonly runs: readonly { readonly id: string; readonly asOf?: number | undefined }[];
  readonly estimators: readonly EstimatorWish[];
  /** training steps, both ends included */
  /** which states count as the same; as they were recorded if not said */
  readonly stateIdentity?: StateIdentity | undefined;
  readonly steps?: { readonly from?: number | undefined; readonly to?: number | undefined } | undefined;
}

/** Checks ids and params, fills in defaults, and drops what is asked for twice. */
export function chooseEstimators(
  wishes: readonly EstimatorWish[],
  catalogue: readonly AnyEstimator[] = ESTIMATORS,
  identity: StateIdentity = AS_RECORDED,
): ChosenEstimator[] {
  if (wishes.length === 0) throw new RecreditError('request.invalid', 'an analysis needs at least one estimator');
  const chosen = new Map<string, ChosenEstimator>();
  const uses = new Map<string, number>();
  for (const wish of wishes) {
    const estimator = findEstimator(wish.id, catalogue);
    const { id, version, hash } = estimator;
    const params = parseParams(estimator, wish.params);
    const same = canonicalJson({ id, params });
    if (chosen.has(same)) continue;
    const use = (uses.get(id) ?? 0) + 1;
    uses.set(id, use);
    chosen.set(same, {
      label: use === 1 ? id : `${id}:${use}`,
      id,
      version,
      ...(hash && { hash }),
      params,
      ...statesOf(estimator, identity),
    });
  }
  return [...chosen.values()];
}
