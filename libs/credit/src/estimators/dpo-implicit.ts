import { rowSums } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { implicitReward } from '../implicit-reward.js';

const DpoImplicitParams = z.strictObject({
  beta: z.number().nonnegative().default(0.05).describe('inverse temperature of the implicit reward'),
});

/**
 * The reward that a policy trained by preferences carries in itself.
 *
 *     s[t] = β · Σ over the generated tokens of t of (logprob − refLogprob)
 *     S[i] = Σ s[t] of the trajectory
 */
export const dpoImplicit = defineEstimator({
  id: 'dpo-implicit',
  version: 1,
  title: 'Implicit reward of a preference-trained policy (DPO)',
  citation: {
    paper: 'arXiv:2509.19199',
    code: 'Tongyi-ConvAI/Qwen-Character:CharacterRL-iStar/istar/dp_rm.py@1de87a2',
  },
  status: 'verified',
  gives: 'reward',
  levels: ['turn'],
  groupRelative: false,
  requires: ['token.logprob', 'token.refLogprob'],
  accepts: ['token.mask'],
  params: DpoImplicitParams,
  estimate({ turnOffsets, tokenOffsets }, columns, { beta }) {
    const { 'token.logprob': logprob, 'token.refLogprob': refLogprob, 'token.mask': mask } = columns;
    const values = implicitReward(logprob, refLogprob, tokenOffsets, mask, beta);
    const level = 'turn';
    return {
      level,
      values,
      explain: {
        turnReward: { level, values },
        trajectoryReward: { level: 'trajectory', values: rowSums(values, turnOffsets) },
      },
    };
  },
});
