import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { ownerOf, pairLabels } from '#lib/numeric';
import { z } from 'zod';
import { episodeAdvantage } from '../episode-advantage.js';
import { defineEstimator } from '../estimator.js';
import { actionPenalties } from '../invalid-actions.js';
import type { TextValues } from '../signal-kinds.js';
import { standardScores } from '../standard-scores.js';

const RlvmrParams = z.strictObject({
  planningReward: z.number().default(1).describe('for planning, where the rollout was rewarded'),
  explorationReward: z.number().default(1).describe('for an action that no earlier valid turn took'),
  reflectionReward: z.number().default(1).describe('for another action after one that failed'),
  stepAdvantageWeight: z
    .number()
    .default(0.5)
    .describe("weight of the part that compares turns of one tag (1 in the authors' run scripts)"),
  normalizeByStd: z.boolean().default(true).describe('divide both parts by their spread'),
  invalidActionPenalty: z.number().nonnegative().default(0.1).describe('taken from the score of an invalid turn'),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spread'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("in both parts: a single turn keeps its reward ('raw', as the reference) or gets 0 ('zero')"),
});

const TAGS = ['planning', 'explore', 'reflection', 'none'] as const;
const NONE = TAGS.indexOf('none');

/**
 * What the rules pay a turn for the tag it printed.
 *
 *     planning:   planningReward where R > 0
 *     explore:    explorationReward unless an earlier valid turn took the same action
 *     reflection: reflectionReward on the first turn, and after a turn that was not both valid and available if the
 *                 action changed
 *     monitor, any other tag, an invalid turn: 0, with the tag 'none'
 *
 * @param isValid, isAvailable [turns] 0: no
 * @returns [turns] index into TAGS, and reward
 */
function tagRewards(
  { turnOffsets, actionKey }: Pick<TrajectoryBatch, 'turnOffsets' | 'actionKey'>,
  tag: TextValues,
  outcome: NumericValues,
  isValid: (t: number) => boolean,
  isAvailable: NumericValues,
  params: z.infer<typeof RlvmrParams>,
) {
  const tagOf = Int32Array.from(tag, (name, t) => {
    const index = TAGS.findIndex((known) => known === name);
    return index < 0 || !isValid(t) ? NONE : index;
  });
  const rewards = new Float64Array(tagOf.length);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    const taken = new Set<number>();
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      const isFirst = t === turnOffsets[i];
      const hadFailed = isFirst || !(isValid(t - 1) && isAvailable[t - 1] !== 0);
      const hasChanged = isFirst || actionKey[t] !== actionKey[t - 1];
      if (tagOf[t] === 0 && outcome[i] > 0) rewards[t] = params.planningReward;
      if (tagOf[t] === 1 && !taken.has(actionKey[t])) rewards[t] = params.explorationReward;
      if (tagOf[t] === 2 && hadFailed && hasChanged) rewards[t] = params.reflectionReward;
      if (isValid(t)) taken.add(actionKey[t]);
    }
  }
  return { tagOf, rewards };
}

/**
 * RLVMR: the outcome against the group, plus what simple rules say of a turn's reasoning tag against the turns of the
 * group that printed the same tag.
 *
 *     E[i,t] from R[i] − p[i,t] over all turns of the group       (episodeAdvantage)
 *     M[i,t] = (m[i,t] − mean) / (std + ε) over (group, tag)      m by tagRewards; one turn alone: m / (1 + ε)
 *     A[i,t] = E[i,t] + w · M[i,t]
 */
export const rlvmr = defineEstimator({
  id: 'rlvmr',
  version: 1,
  title: 'Verifiable meta-reasoning rewards (RLVMR)',
  citation: { paper: 'arXiv:2507.22844', code: 'zzjweb/digitalhuman:RLVMR/code/rlvmr/core_rlvmr.py@789ccd6' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'turn.action', 'turn.reasoningTag', 'turn.actionAvailable'],
  accepts: ['turn.isActionValid'],
  kinds: { 'turn.reasoningTag': 'text' },
  params: RlvmrParams,
  estimate(trajectories, columns, params) {
    const { groupOf, turnOffsets } = trajectories;
    const outcome = columns['trajectory.outcomeReward'];
    const valid = columns['turn.isActionValid'];
    const isValid = (t: number) => valid?.[t] !== 0;
    const tag = columns['turn.reasoningTag'];
    const { tagOf, rewards } = tagRewards(trajectories, tag, outcome, isValid, columns['turn.actionAvailable'], params);

    const penalty = actionPenalties(valid, tag.length, params.invalidActionPenalty);
    const stats = { ...params, statsAcross: 'turns' } as const;
    const episode = episodeAdvantage(outcome, penalty, trajectories, stats);

    const cells = pairLabels(
      ownerOf(turnOffsets).map((i) => groupOf[i]),
      tagOf,
    );
    const step = standardScores(rewards, cells.labels, cells.count, params);
    const level = 'turn';
    return {
      level,
      values: episode.map((value, t) => value + params.stepAdvantageWeight * step[t]),
      explain: {
        effectiveTag: { level, values: Array.from(tagOf, (index) => TAGS[index]) },
        turnReward: { level, values: rewards },
        episodeAdvantage: { level, values: episode },
        stepAdvantage: { level, values: step },
      },
    };
  },
});
