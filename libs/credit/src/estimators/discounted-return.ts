import { discountedSums } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';

const DiscountedReturnParams = z.strictObject({
  gamma: z
    .number()
    .min(0)
    .max(1)
    .default(0.95)
    .describe("discount per turn: 0.95 as in every GiGPO and HGPO script; verl-agent's bare config says 1"),
});

/**
 * Discounted return-to-go of every turn. No baseline: the credit is the return itself.
 *
 *     G[t] = r[t] + γ · G[t + 1],  G after the last turn = 0
 *
 * γ = 0: the turn's own reward; γ = 1: what is still to come.
 */
export const discountedReturn = defineEstimator({
  id: 'discounted-return',
  version: 1,
  title: 'Discounted return-to-go',
  citation: { paper: 'arXiv:2505.10978', code: 'langfengQ/verl-agent:gigpo/core_gigpo.py@20bd331' },
  status: 'verified',
  gives: 'return',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.reward'],
  accepts: [],
  params: DiscountedReturnParams,
  estimate(trajectories, columns, { gamma }) {
    const level = 'turn';
    const values = discountedSums(columns['turn.reward'], trajectories.turnOffsets, gamma);
    return { level, values, explain: { turnReturn: { level, values } } };
  },
});
