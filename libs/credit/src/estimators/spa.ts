import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { discountedSums, ownerOf, rowSums, temporalDifferences } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator, type Column } from '../estimator.js';
import { isWhole } from '../is-whole.js';
import { rlooAdvantage } from './rloo.js';

const SpaParams = z.strictObject({
  variant: z
    .enum(['paper', 'released'])
    .default('paper')
    .describe("contributions of the turns, or what the published script really computes from the outcome ('released')"),
  contributionWeight: z.number().default(1).describe("weight of the contribution (the paper's alpha)"),
  groundingWeight: z.number().default(0.5).describe('bonus of a turn whose action the environment accepted (beta)'),
  gamma: z.number().min(0).max(1).default(1).describe('discount per turn'),
  lambda: z.number().min(0).max(1).default(0.95).describe('trace decay per turn, where there are values'),
});

/**
 * What the published script pays: the outcome against the others of its group, the same on every turn, plus the bonus.
 *
 *     r[t] = R[i] − mean of the others + β · g[t]      alone: R[i]; the last turn always counts as grounded
 *     ρ[t] = (T − 1 − t) · r[t]                        so the last turn earns 0
 *
 * @param reward [trajectories]
 * @param grounded [turns]
 */
export function releasedRewards(
  reward: NumericValues,
  grounded: NumericValues,
  trajectories: Pick<TrajectoryBatch, 'groupOf' | 'groupCount' | 'turnOffsets'>,
  groundingWeight: number,
) {
  const { turnOffsets } = trajectories;
  const { advantage } = rlooAdvantage(reward, trajectories, 'raw');
  const trajectoryOf = ownerOf(turnOffsets);
  const left = Float64Array.from(grounded, (_, t) => turnOffsets[trajectoryOf[t] + 1] - 1 - t);
  const fused = left.map((turns, t) => advantage[trajectoryOf[t]] + groundingWeight * (turns === 0 ? 1 : grounded[t]));
  return { fused, weighted: fused.map((value, t) => (left[t] === 0 ? 0 : left[t] * value)) };
}

/**
 * SPA: a turn is paid its learned contribution to the outcome, and a bonus when its action was accepted.
 *
 *     r[t] = α · c[t] + β · g[t]                      variant 'paper'; 'released': see releasedRewards
 *     G[t] = r[t] + γ · G[t+1]
 *     A[t] = δ[t] + γλ · A[t+1],  δ[t] = r[t] + γ · V[t+1] − V[t]      where every turn has a value; else A = G
 *
 * The contributions are taken as they are: their sum only approximates R, and estimatorLoss says how well.
 */
export const spa = defineEstimator({
  id: 'spa',
  version: 1,
  title: 'Stepwise progress attribution (SPA)',
  citation: { paper: 'arXiv:2505.20732', code: 'WangHanLinHenry/SPA-RL-Agent:ppo/step_ppotrainer.py@ed20087' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.grounded', 'trajectory.outcomeReward'],
  accepts: ['turn.valueEstimate'],
  conditional: [{ when: { variant: 'paper' }, requires: ['turn.contribution'] }],
  params: SpaParams,
  estimate(trajectories, columns, params) {
    const { turnOffsets } = trajectories;
    const { 'turn.grounded': grounded, 'trajectory.outcomeReward': outcome } = columns;
    const explain: Record<string, Column> = {};
    let reward: Float64Array;
    if (params.variant === 'paper') {
      const contribution = columns['turn.contribution'];
      reward = Float64Array.from(
        contribution,
        (c, t) => params.contributionWeight * c + params.groundingWeight * grounded[t],
      );
      const predicted = rowSums(contribution, turnOffsets);
      const loss = predicted.reduce((sum, value, i) => sum + (value - outcome[i]) ** 2, 0) / predicted.length;
      explain.turnReward = { level: 'turn', values: reward };
      explain.predictedReturn = { level: 'trajectory', values: predicted };
      explain.estimatorLoss = { level: 'shard', values: Float64Array.of(loss) };
    } else {
      const { fused, weighted } = releasedRewards(outcome, grounded, trajectories, params.groundingWeight);
      reward = weighted;
      explain.turnReward = { level: 'turn', values: fused };
      explain.weightedReward = { level: 'turn', values: weighted };
    }

    const level = 'turn';
    const turnReturn = discountedSums(reward, turnOffsets, params.gamma);
    explain.turnReturn = { level, values: turnReturn };
    const value = columns['turn.valueEstimate'];
    if (!isWhole(value)) {
      const warnings = ['no valueEstimate on every turn: the credit is the return, which has no baseline'];
      return { level, values: turnReturn, explain, warnings };
    }
    const delta = temporalDifferences(reward, value, turnOffsets, params.gamma);
    return { level, values: discountedSums(delta, turnOffsets, params.gamma * params.lambda), explain };
  },
});
