import { ownerOf, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { centred, scaled } from '../group-scores.js';
import { Attempts, attemptsOf, shareOfYes } from '../votes.js';

const CapoParams = z.strictObject({
  outcomeWeight: z.number().default(2).describe('reward of a right trajectory (Ww)'),
  processWeight: z.number().default(1).describe('what a wrong turn loses (Wp)'),
  vote: z
    .enum(['intersection', 'majority', 'average'])
    .default('intersection')
    .describe('a turn is wrong where all critiques say so, where more than half do, or as much as they do'),
  ddof: z.literal([0, 1]).default(1).describe("1: the tokens are a sample, 0: all there are; the paper's is not known"),
  epsilon: z.number().nonnegative().default(1e-6).describe("added to the group's spread; the paper's is not known"),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a group of one single token keeps its reward ('raw') or gets 0 ('zero')"),
});
type Params = z.infer<typeof CapoParams>;

/** How wrong a turn is, of the critiques that could be read; 0 where none could. */
export function wrongness(critiques: Attempts, vote: Params['vote']): number {
  const share = shareOfYes(critiques);
  if (vote === 'average') return share;
  return vote === 'majority' ? Number(share > 0.5) : Number(share === 1);
}

/**
 * CAPO: a general model lists the wrong turns, several critiques vote, and their tokens lose a fixed amount.
 *
 *     r[t] = Ww · [right] − Wp · w[t]          w: wrongness
 *     A[t] = (r[t] − mean_g) / (std_g + ε)     over all tokens of all trajectories of the group: long ones weigh more
 */
export const capo = defineEstimator({
  id: 'capo',
  version: 1,
  title: 'Generative credit by critiques (CAPO)',
  citation: { paper: 'arXiv:2508.02298' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['trajectory.success', 'turn.wrong', 'turn.tokenCount'],
  accepts: [],
  kinds: { 'turn.wrong': Attempts },
  params: CapoParams,
  estimate(trajectories, columns, params) {
    const { turnOffsets, groupOf, groupCount } = trajectories;
    const success = columns['trajectory.success'];
    const wrong = attemptsOf(trajectories, 'turn.wrong', columns['turn.wrong']);
    const owner = ownerOf(turnOffsets);
    const reward = Float64Array.from(owner, (i, t) => {
      return params.outcomeWeight * success[i] - params.processWeight * wrongness(wrong[t], params.vote);
    });
    const tokens = Float64Array.from(columns['turn.tokenCount'], (count) => Math.max(0, Math.round(count)));
    const groupOfTurn = owner.map((i) => groupOf[i]);
    const moments = segmentMoments(reward, tokens, groupOfTurn, groupCount, params.ddof);
    const centre = centred(reward, groupOfTurn, moments, params.singleton);
    const level = 'turn';
    return {
      level,
      values: scaled(centre, groupOfTurn, moments, params.epsilon),
      explain: { turnReward: { level, values: reward } },
    };
  },
});
