import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { ownerOf } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS } from '../group-advantage.js';
import { standardScores } from '../standard-scores.js';

const RecyclingFailuresParams = z.strictObject({
  prefixCredit: z
    .enum(['zero', 'keep'])
    .default('zero')
    .describe("turns before a failure's first error get 0, or the trajectory's advantage ('keep')"),
  includeRecycled: z.boolean().default(true).describe('corrected branches take part in the comparison and get credit'),
  ratioCap: z.number().positive().default(1).describe('most that an off-policy turn counts (the c of min(ratio, c))'),
  ...GROUP_PARAMS,
});

/** [turns] how likely a turn has become against the policy that wrote it; NaN where that was not recorded. */
function turnRatios(
  { tokenOffsets, stateKey }: TrajectoryBatch,
  logprob: NumericValues | undefined,
  updated: NumericValues | undefined,
  mask: NumericValues | undefined,
): Float64Array {
  return new Float64Array(stateKey.length).map((_, t) => {
    let sum = 0;
    let count = 0;
    for (let k = tokenOffsets[t]; k < tokenOffsets[t + 1]; k++) {
      if (mask?.[k] === 0) continue;
      sum += (updated?.[k] ?? NaN) - (logprob?.[k] ?? NaN);
      count++;
    }
    return count === 0 ? NaN : Math.exp(sum);
  });
}

/**
 * Recycling failures: a failure keeps its valid prefix, and a corrected branch joins its group.
 *
 *     A[i]  = (R[i] − mean_g R) / (std_g R + ε)      ddof = 1, corrected branches included
 *     failure with first error e:  turns t < e get 0, turns t ≥ e get A[i]
 *     corrected branch (offPolicy): shared turns get 0, its own A[i] · min(ratio, c); without log-probabilities A[i]
 */
export const recyclingFailures = defineEstimator({
  id: 'recycling-failures',
  version: 1,
  title: 'Salvaged failures (SCOPE, recycling)',
  citation: { paper: 'arXiv:2602.24110' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'trajectory.firstError'],
  accepts: ['trajectory.success', 'trajectory.policySource', 'token.logprob', 'token.updatedLogprob', 'token.mask'],
  kinds: { 'trajectory.policySource': 'text' },
  params: RecyclingFailuresParams,
  estimate(trajectories, columns, params) {
    const { groupOf, groupCount, turnOffsets, parentTurn } = trajectories;
    const { 'trajectory.firstError': firstError, 'trajectory.success': success } = columns;
    const reward = columns['trajectory.outcomeReward'];
    const isRecycled = (i: number) => columns['trajectory.policySource']?.[i] === 'offPolicy';
    const among = groupOf.map((group, i) => (isRecycled(i) && !params.includeRecycled ? -1 : group));
    const advantage = standardScores(reward, among, groupCount, params);

    const ratio = turnRatios(
      trajectories,
      columns['token.logprob'],
      columns['token.updatedLogprob'],
      columns['token.mask'],
    );
    const prefix = params.prefixCredit === 'keep' ? 1 : 0;
    const owner = ownerOf(turnOffsets);
    const weight = new Float64Array(owner.length).map((_, t) => {
      const i = owner[t];
      const turn = t - turnOffsets[i];
      if (isRecycled(i)) {
        if (turn <= parentTurn[i]) return prefix;
        return Number.isNaN(ratio[t]) ? 1 : Math.min(ratio[t], params.ratioCap);
      }
      const hasFailed = firstError[i] >= 0 && success?.[i] !== 1;
      return hasFailed && turn < firstError[i] ? prefix : 1;
    });
    const level = 'turn';
    return {
      level,
      values: weight.map((w, t) => w * advantage[owner[t]]),
      explain: {
        baseAdvantage: { level: 'trajectory', values: advantage },
        creditWeight: { level, values: weight },
        offPolicy: { level, values: Float64Array.from(owner, (i, t) => (isRecycled(i) && t - turnOffsets[i] > parentTurn[i] ? 1 : 0)) }, // prettier-ignore
      },
    };
  },
});
