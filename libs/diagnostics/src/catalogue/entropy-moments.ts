import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { composeOffsets } from '#lib/numeric';
import { z } from 'zod';
import { figure } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/** A deviation up to this is that of a constant. */
const CONSTANT = 1e-8;

/**
 * Moments of the entropies of a trajectory, as means over trajectories.
 *
 *     μ = Σ h / n,  v = Σ c² / (n − 1)                      c = h − μ
 *     skewness = (Σ c³ / n) / v^1.5                         0 where √v ≤ 1e-8
 *     excess kurtosis = (Σ c⁴ / n) / v² − 3                 0 where √v ≤ 1e-8
 *
 * n-moments over powers of the (n − 1) deviation are what Lp-Reg logs: scipy's are different.
 *
 * Source: CarlanLark/Lp-Reg-dev verl/utils/stat_utils.py, compute_entropy_statistics.
 *
 * @param minimumTokens a trajectory with fewer generated tokens is left out
 */
export function entropyMoments(trajectories: TrajectoryBatch, { minimumTokens }: { readonly minimumTokens: number }) {
  const entropy = numbers(trajectories, 'token.entropy');
  const mask = numbers(trajectories, 'token.mask');
  const offsets = composeOffsets(trajectories.turnOffsets, trajectories.tokenOffsets);
  const sum = { mean: 0, variance: 0, skewness: 0, kurtosis: 0 };
  let used = 0;
  const kept = new Float64Array(entropy?.length ?? 0);
  const rows = entropy === null ? 0 : offsets.length - 1;
  for (let i = 0; i < rows; i++) {
    let n = 0;
    let total = 0;
    for (let k = offsets[i]; k < offsets[i + 1]; k++) {
      const h = entropy![k];
      if ((mask !== null && mask[k] === 0) || h !== h) continue;
      kept[n++] = h;
      total += h;
    }
    if (n < Math.max(minimumTokens, 2)) continue;
    const mean = total / n;
    let second = 0;
    let third = 0;
    let fourth = 0;
    for (let k = 0; k < n; k++) {
      const centred = kept[k] - mean;
      const square = centred * centred;
      second += square;
      third += square * centred;
      fourth += square * square;
    }
    const variance = second / (n - 1);
    const isConstant = Math.sqrt(variance) <= CONSTANT;
    used++;
    sum.mean += mean;
    sum.variance += variance;
    sum.skewness += isConstant ? 0 : third / n / variance ** 1.5;
    sum.kurtosis += isConstant ? 0 : fourth / n / variance ** 2 - 3;
  }
  const meanOf = (total: number) => (used === 0 ? null : total / used);
  return {
    mean: meanOf(sum.mean),
    variance: meanOf(sum.variance),
    skewness: meanOf(sum.skewness),
    excessKurtosis: meanOf(sum.kurtosis),
    usedTrajectories: used,
  };
}

export const entropyMomentsDiagnostic = stepwise({
  id: 'entropy-moments',
  version: 1,
  title: 'Shape of the entropy',
  question: 'Is entropy spread over a trajectory, or do a few tokens stand out?',
  remedy: 'A high kurtosis means few uncertain tokens: see surprisal-quadrants and low-probability-tokens for which.',
  headline: 'skewness',
  level: 'trainingStep',
  status: 'verified',
  source: 'CarlanLark/Lp-Reg-dev verl/utils/stat_utils.py (compute_entropy_statistics)',
  requires: ['token.entropy'],
  accepts: ['token.mask'],
  metrics: [],
  params: z.strictObject({
    minimumTokens: z.int().min(2).default(5).describe('a trajectory with fewer generated tokens is left out'),
  }),
  thresholds: z.strictObject({}),

  measure({ trajectories }, params) {
    const { usedTrajectories, ...values } = entropyMoments(trajectories, params);
    return usedTrajectories === 0 ? null : { values, observations: usedTrajectories };
  },

  sentence: ({ mean, variance, skewness, excessKurtosis }) =>
    `entropy of a trajectory: mean ${figure(mean ?? 0)}, variance ${figure(variance ?? 0)}, skewness ${figure(skewness ?? 0)}, excess kurtosis ${figure(excessKurtosis ?? 0)}`,

  rules: () => [],
});
