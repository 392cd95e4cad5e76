import { rowMeans, rowSums } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { groupMembers } from '../group-members.js';
import { implicitReward, negativeLogSigmoid } from '../implicit-reward.js';
import { pairColumn, signedWeights, type Pair } from '../preference-pairs.js';

const WeightedDpoParams = z.strictObject({
  beta: z.number().nonnegative().default(0.1).describe('inverse temperature'),
  weight: z.enum(['gap', 'one']).default('gap').describe('of a pair: the gap of process quality, or 1 (plain DPO)'),
  minWeight: z.number().nonnegative().default(0).describe('the least weight of a pair; a gap may be negative'),
  granularity: z
    .enum(['trajectory', 'turn'])
    .default('trajectory')
    .describe("signed sum of a trajectory's weights, or what each turn added to its process quality"),
});

/** Pairs of a group: success over failure; of two successes the one of better quality; of two failures none. */
export function outcomePairs(group: readonly number[], success: ArrayLike<number>, quality: Float64Array): Pair[] {
  const isBetter = (i: number, j: number) => success[i] === 1 && (success[j] !== 1 || quality[i] > quality[j]);
  return group.flatMap((chosen) =>
    group.filter((rejected) => isBetter(chosen, rejected)).map((rejected) => ({ chosen, rejected })),
  );
}

/**
 * StepORLM: DPO over trajectories, each pair weighted by the gap of its process quality.
 *
 *     q[i] = share of the turns judged right
 *     w    = max(q[+] − q[−], minWeight), or 1;      loss = −w log σ(β (log ratio[+] − log ratio[−]))
 *     A[i] = Σ w over the pairs where i won − Σ where it lost;      per turn: stepCorrect − q
 *
 * A trajectory without turns has q = 0.
 */
export const weightedDpo = defineEstimator({
  id: 'weighted-dpo',
  version: 1,
  title: 'Process-weighted DPO (StepORLM)',
  citation: { paper: 'arXiv:2509.22558' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['trajectory', 'turn'],
  groupRelative: true,
  requires: ['trajectory.success', 'turn.stepCorrect'],
  accepts: ['token.logprob', 'token.refLogprob', 'token.mask'],
  params: WeightedDpoParams,
  estimate(trajectories, columns, { beta, weight, minWeight, granularity }) {
    const { ids, turnOffsets, tokenOffsets } = trajectories;
    const { 'trajectory.success': success, 'turn.stepCorrect': stepCorrect } = columns;
    const quality = rowMeans(stepCorrect, turnOffsets).map((share) => (Number.isNaN(share) ? 0 : share));
    const pairs = groupMembers(trajectories).flatMap((group) => outcomePairs(group, success, quality));
    const weights = pairs.map(({ chosen, rejected }) =>
      weight === 'one' ? 1 : Math.max(quality[chosen] - quality[rejected], minWeight),
    );
    const { 'token.logprob': logprob, 'token.refLogprob': reference, 'token.mask': mask } = columns;
    const ratio =
      logprob && reference && rowSums(implicitReward(logprob, reference, tokenOffsets, mask, beta), turnOffsets);

    const explain = {
      processQuality: { level: 'trajectory', values: quality },
      chosen: pairColumn(pairs.map(({ chosen }) => ids[chosen])),
      rejected: pairColumn(pairs.map(({ rejected }) => ids[rejected])),
      pairWeight: pairColumn(weights),
      ...(ratio && {
        pairLoss: pairColumn(
          pairs.map(({ chosen, rejected }, p) => weights[p] * negativeLogSigmoid(ratio[chosen] - ratio[rejected])),
        ),
      }),
    } as const;
    if (granularity === 'trajectory') {
      return { level: granularity, values: signedWeights(pairs, weights, ids.length), explain };
    }
    const values = new Float64Array(stepCorrect.length);
    quality.forEach((share, i) => {
      for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) values[t] = stepCorrect[t] - share;
    });
    return { level: granularity, values, explain };
  },
});
