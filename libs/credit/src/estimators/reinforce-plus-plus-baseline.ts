import { rowCount, type NumericValues, type TrajectoryBatch } from '#lib/dataset';
import { rowLengths, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { centred } from '../group-scores.js';
import { rowsOfTrajectories } from '../level-rows.js';
import { notWhitened } from '../not-whitened.js';

const ReinforcePlusPlusBaselineParams = z.strictObject({
  whiten: z.boolean().default(true).describe('standardise over all generated tokens of the training step'),
  whitenEpsilon: z.number().nonnegative().default(1e-8).describe('added to the variance, inside the root'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a group of one keeps its reward ('raw', as verl) or gets 0 ('zero')"),
});

/**
 * Standardises values that stand on several positions each, as `whiten` does when every position is written out.
 *
 *     y[i] = (x[i] − mean) / sqrt(var + ε)      mean and var (ddof = 1) with x[i] counted length[i] times
 *
 * All equal: exactly 0. Fewer than two positions: as they are. What stands on no position gets 0.
 *
 * @param values, length [rows]
 * @returns [rows], and how many positions there are
 */
function whitenRows(values: Float64Array, length: Float64Array, epsilon: number) {
  const batch = segmentMoments(values, length, new Int32Array(values.length), 1);
  const [count, mean, std] = [batch.weight[0], batch.mean[0], batch.std[0]];
  const whitened = values.map((value, i) => {
    if (length[i] === 0 || (count >= 2 && std === 0)) return 0;
    return count < 2 ? value : (value - mean) / Math.sqrt(std ** 2 + epsilon);
  });
  return { values: whitened, count };
}

/** [trajectories] how many tokens were generated; where a batch has no token at all, each turn stands for one. */
function generatedTokens(trajectories: TrajectoryBatch, mask: NumericValues | null) {
  const hasTokens = rowCount(trajectories, 'token') > 0;
  const length = rowLengths(rowsOfTrajectories(trajectories, hasTokens ? 'token' : 'turn'), hasTokens ? mask : null);
  const idle = length.filter((tokens) => tokens === 0).length;
  const warnings = [
    ...(hasTokens || idle === length.length ? [] : ['no token is recorded: each turn counts as one']),
    ...(idle === 0 ? [] : [`trajectories without a generated token get 0: ${idle} of ${length.length}`]),
  ];
  return { length, warnings };
}

/**
 * REINFORCE++-baseline: centred by the group, then normalised over all generated tokens of the batch.
 *
 *     c[i] = R[i] − mean_g R
 *     A[i] = (c[i] − mean) / sqrt(var + ε)      mean and var (ddof = 1) over tokens: c[i] counts L[i] times
 *
 * Long trajectories weigh more in mean and var. A batch that agrees gives exactly 0.
 */
export const reinforcePlusPlusBaseline = defineEstimator({
  id: 'reinforce-plus-plus-baseline',
  version: 1,
  title: 'Group mean, normalised over tokens (REINFORCE++-baseline)',
  citation: { paper: 'arXiv:2501.03262', code: 'verl-project/verl:verl/trainer/ppo/core_algos.py@1dda039b9' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward'],
  accepts: ['token.mask'],
  params: ReinforcePlusPlusBaselineParams,
  estimate(trajectories, columns, { whiten, whitenEpsilon, singleton }) {
    const { groupOf, groupCount } = trajectories;
    const reward = columns['trajectory.outcomeReward'];
    const centre = centred(reward, groupOf, segmentMoments(reward, null, groupOf, groupCount), singleton);
    const level = 'trajectory';
    const explain = { centeredReward: { level, values: centre } } as const;
    if (!whiten) return { level, values: centre, explain };

    const { length, warnings } = generatedTokens(trajectories, columns['token.mask'] ?? null);
    const { values, count } = whitenRows(centre, length, whitenEpsilon);
    return { level, values, explain, warnings: [...warnings, ...notWhitened(count, 'tokens')] };
  },
});
