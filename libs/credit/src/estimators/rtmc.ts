import { discountedSums, pairLabels, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { equalStates } from '../state-groups.js';

const RtmcParams = z.strictObject({
  gamma: z.number().min(0).max(1).default(0.95).describe('discount per turn (not published)'),
});

/**
 * RTMC: what an action brought from a state on average, against what the state brought on average.
 *
 *     G[t]   = r[t] + γ · G[t+1]
 *     Q(s,a) = mean of G over all visits of (s,a) in the group      V(s) = mean of G over all visits of s
 *     A[t]   = Q(s,a) − V(s)
 *
 * A state that saw one action only gets exactly 0.
 */
export const rtmc = defineEstimator({
  id: 'rtmc',
  version: 1,
  title: 'Rollout-tree Monte Carlo advantage (RTMC)',
  citation: { work: 'GRAFT: graph-based faithful step-level credit assignment' },
  status: 'second-hand',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.state', 'turn.action', 'turn.reward'],
  accepts: [],
  params: RtmcParams,
  estimate(trajectories, columns, { gamma }) {
    const level = 'turn';
    const turnReturn = discountedSums(columns['turn.reward'], trajectories.turnOffsets, gamma);
    const states = equalStates(trajectories);
    const acts = pairLabels(states.labels, trajectories.actionKey);
    const ofState = segmentMoments(turnReturn, null, states.labels, states.count).mean;
    const ofAct = segmentMoments(turnReturn, null, acts.labels, acts.count).mean;

    const stateValue = turnReturn.map((_, t) => ofState[states.labels[t]]);
    return {
      level,
      values: stateValue.map((value, t) => ofAct[acts.labels[t]] - value),
      explain: { turnReturn: { level, values: turnReturn }, stateValue: { level, values: stateValue } },
    };
  },
});
