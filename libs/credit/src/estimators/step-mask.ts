import { ownerOf, repeatRows } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { isWhole } from '../is-whole.js';
import { Attempts, attemptsOf, shareOfYes } from '../votes.js';

const StepMaskParams = z.strictObject({
  variant: z
    .enum(['all', 'positiveOnly'])
    .default('all')
    .describe('leave out every wrong turn, or only those that the outcome would reward'),
  ...GROUP_PARAMS,
});

/**
 * STeP: turns that are wrong and reflect on nothing are left out of the update.
 *
 *     keep[t] = 0 where t is wrong and no reflection, else 1      wrong: more than half of the attempts say so
 *     positiveOnly: keep[t] = 1 where the trajectory's advantage is not above 0
 *
 * Where outcomes are recorded, column `maskedAdvantage` is keep · (R − mean_g R) / (std_g R + ε), ddof = 1.
 */
export const stepMask = defineEstimator({
  id: 'step-mask',
  version: 1,
  title: 'Partial masking of wrong turns (STeP)',
  citation: { paper: 'arXiv:2505.20023' },
  status: 'reconstructed',
  gives: 'keep',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.wrong', 'turn.reflection'],
  accepts: [],
  conditional: [
    { when: { variant: 'positiveOnly' }, requires: ['trajectory.outcomeReward'] },
    { when: { variant: 'all' }, accepts: ['trajectory.outcomeReward'] },
  ],
  kinds: { 'turn.wrong': Attempts },
  params: StepMaskParams,
  estimate(trajectories, columns, params) {
    const { 'turn.reflection': reflection, 'trajectory.outcomeReward': outcome } = columns;
    const wrong = attemptsOf(trajectories, 'turn.wrong', columns['turn.wrong']);
    const isMasked = wrong.map((votes, t) => shareOfYes(votes) > 0.5 && reflection[t] !== 1);
    const base = isWhole(outcome) ? groupAdvantage(outcome, trajectories, params) : null;
    const owner = ownerOf(trajectories.turnOffsets);
    const isSpared = (t: number) => params.variant === 'positiveOnly' && !(base![owner[t]] > 0);
    const values = Float64Array.from(isMasked, (masked, t) => (masked && !isSpared(t) ? 0 : 1));
    const level = 'turn';
    const masked = base && repeatRows(base, trajectories.turnOffsets).map((value, t) => value * values[t]);
    return { level, values, ...(masked && { explain: { maskedAdvantage: { level, values: masked } } }) };
  },
});
