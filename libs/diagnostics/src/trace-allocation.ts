import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { anchorsOf, type Anchor } from './anchors.js';

export interface TraceParams {
  /** successes and failures that every anchor is given beforehand */
  readonly priorA: number;
  readonly priorB: number;
  /** rollouts to spend; null: as many as were */
  readonly budget: number | null;
  readonly maxPerAnchor: number;
}

export const TRACE_DEFAULTS: TraceParams = { priorA: 1, priorB: 1, budget: null, maxPerAnchor: Infinity };

export interface Allotment extends Anchor {
  /** predicted chance of success from here */
  readonly success: number;
  /** rollouts that the budget gives it, and the chance that they end both ways */
  readonly rollouts: number;
  readonly mixed: number;
  /** the same for the rollouts that were really started here */
  readonly mixedSpent: number;
}

export interface TraceAllocation {
  readonly anchors: readonly Allotment[];
  /** Σ mixed of the advice less that of what was spent, where the budget is the same */
  readonly regret: number;
  /** mean squared error of the prediction for each trajectory, itself left out; null: nothing to predict */
  readonly brier: number | null;
}

/**
 * The chance that m rollouts contain both successes and failures.
 *
 *     M(p, m) = 1 − p^m − (1 − p)^m      0 for m < 2, and for p = 0 or 1
 */
export function mixedOutcomes(p: number, m: number): number {
  return m < 2 ? 0 : 1 - p ** m - (1 - p) ** m;
}

/**
 * Spends a budget where it most likely brings both outcomes, greedily.
 *
 *     the first step at an anchor are two rollouts, of gain M(p, 2) / 2 each; every later one gains M(p, m + 1) − M(p, m)
 *
 * Of equal gains the first anchor has it.
 *
 * @param success [anchors] predicted chance
 * @returns [anchors] rollouts
 */
export function spendGreedily(success: readonly number[], budget: number, maxPerAnchor: number): number[] {
  const rollouts = success.map(() => 0);
  for (let left = budget; left > 0;) {
    let best = -1;
    let bestGain = 0;
    success.forEach((p, a) => {
      const step = rollouts[a] === 0 ? 2 : 1;
      if (step > left || rollouts[a] + step > maxPerAnchor) return;
      const gain = (mixedOutcomes(p, rollouts[a] + step) - mixedOutcomes(p, rollouts[a])) / step;
      // Rounding must not decide between equals.
      if (gain > bestGain + 1e-12) [best, bestGain] = [a, gain];
    });
    if (best < 0) break;
    const step = rollouts[best] === 0 ? 2 : 1;
    rollouts[best] += step;
    left -= step;
  }
  return rollouts;
}

/**
 * TRACE: which prompts and prefixes deserve the next rollouts. RECONSTRUCTED (arXiv:2606.11119, from its abstract and
 * summaries): the paper's predictor, its objective and its ties are not known.
 *
 *     p[n] = (S[n] + priorA) / (L[n] + priorA + priorB)      successes S of the L trajectories through n
 *
 * @param success [trajectories] 1, 0; NaN: not said
 */
export function traceAllocation(
  trajectories: TrajectoryBatch,
  success: NumericValues,
  params: Partial<TraceParams> = {},
): TraceAllocation {
  const { priorA, priorB, budget, maxPerAnchor } = { ...TRACE_DEFAULTS, ...params };
  const { tree, anchors } = anchorsOf(trajectories, success);
  const chance = (successes: number, of: number) => (successes + priorA) / (of + priorA + priorB);
  const chances = anchors.map(({ mean, continuations }) => chance((mean ?? 0) * continuations, continuations));
  const spent = anchors.reduce((sum, { started }) => sum + started, 0);
  const rollouts = spendGreedily(chances, budget ?? spent, maxPerAnchor);
  const allotments = anchors.map((anchor, a) => ({
    ...anchor,
    success: chances[a],
    rollouts: rollouts[a],
    mixed: mixedOutcomes(chances[a], rollouts[a]),
    mixedSpent: mixedOutcomes(chances[a], anchor.started),
  }));

  const anchorAt = new Map(anchors.map((anchor) => [anchor.node, anchor]));
  const errors: number[] = [];
  tree.endNode.forEach((end, i) => {
    if (Number.isNaN(success[i])) return;
    for (let n = end; n >= 0; n = tree.parentNode[n]) {
      const { mean, continuations } = anchorAt.get(n) ?? {};
      if (mean === undefined || mean === null || continuations! < 2) continue;
      errors.push((chance(mean * continuations! - success[i], continuations! - 1) - success[i]) ** 2);
    }
  });
  const total = (of: (each: Allotment) => number) => allotments.reduce((sum, each) => sum + of(each), 0);
  return {
    anchors: allotments,
    regret: total(({ mixed }) => mixed) - total(({ mixedSpent }) => mixedSpent),
    brier: errors.length === 0 ? null : errors.reduce((sum, error) => sum + error, 0) / errors.length,
  };
}
