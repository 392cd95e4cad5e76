import { ownerOf } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { standardScores } from '../standard-scores.js';

const LtsUsageParams = z.strictObject({
  bonusWeight: z
    .number()
    .default(0.5)
    .describe('what a written entry earns that was read in a rewarded trajectory (assumed)'),
  sparsityWeight: z.number().default(0).describe('what every written entry costs (assumed)'),
  epsilon: z.number().nonnegative().default(1e-6).describe("added to the group's spread (assumed)"),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a single decision in all of a group keeps its reward ('raw') or gets 0 ('zero')"),
});

/**
 * LTS: a decision to write into the shared memory earns a bonus where the entry was read later and the trajectory was
 * rewarded; all decisions of a group are compared.
 *
 *     q[i,t] = R[i] + wB · written · recalled · [R[i] > 0] − wS · written
 *     A[i,t] = (q[i,t] − mean_g q) / (std_g q + ε)      over the turns of the group, ddof = 1
 */
export const ltsUsage = defineEstimator({
  id: 'lts-usage',
  version: 1,
  title: 'Usage-aware credit of memory writes (LTS)',
  citation: { paper: 'arXiv:2602.05965' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'turn.memoryWrite', 'turn.memoryRecalled'],
  accepts: [],
  params: LtsUsageParams,
  estimate({ turnOffsets, groupOf, groupCount }, columns, { bonusWeight, sparsityWeight, ...params }) {
    const reward = columns['trajectory.outcomeReward'];
    const written = columns['turn.memoryWrite'];
    const recalled = columns['turn.memoryRecalled'];
    const trajectoryOf = ownerOf(turnOffsets);
    const quality = Float64Array.from(trajectoryOf, (i, t) => {
      const bonus = reward[i] > 0 ? bonusWeight * written[t] * recalled[t] : 0;
      return reward[i] + bonus - sparsityWeight * written[t];
    });
    const groupOfTurn = trajectoryOf.map((i) => groupOf[i]);
    const level = 'turn';
    return {
      level,
      values: standardScores(quality, groupOfTurn, groupCount, params),
      explain: { turnReward: { level, values: quality } },
    };
  },
});
