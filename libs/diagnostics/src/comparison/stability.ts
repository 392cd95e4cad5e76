import type { JackknifeStability } from '../jackknife-stability.js';
import { withReasons } from './sums.js';

/** How far one estimator's credit hangs on who else was there, in sums over the turns that were looked at. */
export interface StabilitySums {
  readonly turns: number;
  /** of them, those from whom groups were left out and no single trajectory: the estimator looks across groups */
  readonly acrossGroups: number;
  readonly maxMove: number;
  readonly standardError: number;
  /** Σ |A| */
  readonly size: number;
  readonly signUnstable: number;
}

export const NO_STABILITY: StabilitySums = {
  turns: 0,
  acrossGroups: 0,
  maxMove: 0,
  standardError: 0,
  size: 0,
  signUnstable: 0,
};

/** The sums of what a jackknife found. */
export function stabilitySums(
  { credit, maxMove, standardError, signUnstable }: JackknifeStability,
  { acrossGroups }: { readonly acrossGroups: boolean },
): StabilitySums {
  const sums = { ...NO_STABILITY };
  for (let t = 0; t < credit.length; t++) {
    if (Number.isNaN(maxMove[t])) continue;
    sums.turns++;
    sums.maxMove += maxMove[t];
    sums.standardError += standardError[t];
    sums.size += Math.abs(credit[t]);
    sums.signUnstable += signUnstable[t];
  }
  return { ...sums, acrossGroups: acrossGroups ? sums.turns : 0 };
}

/** How far one estimator's credit hangs on who else was there. */
export type CreditStability = ReturnType<typeof creditStability>;

/**
 * The diagnostic jackknife-stability, from sums.
 *
 *     meanMaxMove          mean over turns of max_j |A^(−j) − A|
 *     signUnstableShare    share of the turns whose sign turns when somebody is left out
 *     relativeInstability  Σ standard error / Σ |A|
 */
export function creditStability({ turns, acrossGroups, ...sums }: StabilitySums) {
  const unseen =
    'no turn was looked at: it takes groups of 3 or more trajectories, and an estimator that learns nothing';
  return {
    turns,
    /** what was left out at a time */
    leftOut: acrossGroups > 0 ? 'groups' : 'trajectory',
    ...withReasons({
      meanMaxMove: [sums.maxMove / turns, unseen],
      signUnstableShare: [sums.signUnstable / turns, unseen],
      relativeInstability: [sums.standardError / sums.size, turns === 0 ? unseen : 'all credit is zero'],
    }),
  } as const;
}
