import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { ownerOf, repeatRows, rowLengths, rowMeans, segmentMoments, whiten } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { groupMembers } from '../group-members.js';
import type { Singleton } from '../group-scores.js';
import { implicitReward, negativeLogSigmoid } from '../implicit-reward.js';

const IstarParams = z.strictObject({
  baseline: z
    .enum(['rloo', 'grpo', 'reinforcePlusPlusBaseline', 'processOutcomeCombined'])
    .default('rloo')
    .describe('how outcome and step reward are each compared; the last adds them before it compares'),
  beta: z.number().nonnegative().default(0.05).describe('inverse temperature of the step reward'),
  processNormalization: z
    .enum(['batchNorm', 'none'])
    .default('batchNorm')
    .describe('step rewards are divided by the largest one of the batch, or not'),
  stepAdvantageWeight: z.number().default(1).describe('weight of the step part'),
  useProcessOnly: z.boolean().default(false).describe('only the step part'),
  normalizeByStd: z.boolean().default(false).describe('baseline grpo: divide by the spread of the sample too'),
  stepBaseline: z
    .enum(['firstTurn', 'allTurns'])
    .default('firstTurn')
    .describe('the sample of the step part: the first turn of each trajectory, as the reference has it, or all turns'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a group whose sample is one turn keeps its rewards ('raw', the reference) or gets 0 ('zero')"),
});
type Params = z.infer<typeof IstarParams>;

const MAX_EPSILON = 1e-6;
const STD_EPSILON = 1e-6;
const WHITEN_EPSILON = 1e-8;

type Compare = (values: Float64Array, inSample: Float64Array | null) => Float64Array;

/**
 * Turns against a sample of their group of size n: the mean left out of itself, or the plain one.
 *
 *     rloo  (x − mean) · n / (n − 1)
 *     grpo  x − mean, with normalizeByStd / (std + 1e-6), ddof = 1
 *     reinforcePlusPlusBaseline  x − mean, then standardised over all generated tokens of the batch
 *
 * A sample of one has mean 0 and std 1. Exactly 0 where sample and value agree.
 */
function comparison(
  trajectories: TrajectoryBatch,
  mask: NumericValues | undefined,
  { baseline, normalizeByStd, singleton }: Pick<Params, 'baseline' | 'normalizeByStd'> & { singleton: Singleton },
): Compare {
  const { turnOffsets, tokenOffsets, groupOf, groupCount } = trajectories;
  const groupOfTurn = ownerOf(turnOffsets).map((i) => groupOf[i]);
  return (values, inSample) => {
    const { weight, mean, std } = segmentMoments(values, inSample, groupOfTurn, groupCount);
    const compared = values.map((x, t) => {
      const g = groupOfTurn[t];
      if (weight[g] === 1) return singleton === 'zero' ? 0 : baseline === 'grpo' && normalizeByStd ? x / (1 + STD_EPSILON) : x; // prettier-ignore
      const centre = x - mean[g];
      if (centre === 0 || baseline === 'reinforcePlusPlusBaseline') return centre;
      if (baseline === 'grpo') return normalizeByStd ? centre / (std[g] + STD_EPSILON) : centre;
      return (centre * weight[g]) / (weight[g] - 1);
    });
    if (baseline !== 'reinforcePlusPlusBaseline') return compared;
    const whitened = whiten(repeatRows(compared, tokenOffsets), mask ?? null, WHITEN_EPSILON);
    return rowMeans(whitened.values, tokenOffsets, mask ?? null).map((value) => (Number.isNaN(value) ? 0 : value));
  };
}

/** [turns] divided by the largest magnitude of the batch. */
function byLargest(rewards: Float64Array): Float64Array {
  const largest = rewards.reduce((max, reward) => Math.max(max, Math.abs(reward)), 0);
  return rewards.map((reward) => reward / (largest + MAX_EPSILON));
}

/**
 * How badly the step rewards order trajectories that succeeded and such that failed.
 *
 *     mean of −log σ(score[+] − score[−]) over the pairs of a group      score: mean step reward of the trajectory
 */
function preferenceLoss(trajectories: TrajectoryBatch, rewards: Float64Array, outcome: NumericValues): number {
  const score = rowMeans(rewards, trajectories.turnOffsets).map((mean) => (Number.isNaN(mean) ? 0 : mean));
  let sum = 0;
  let pairs = 0;
  for (const group of groupMembers(trajectories)) {
    const failed = group.filter((i) => !(outcome[i] > 0));
    for (const won of group.filter((i) => outcome[i] > 0)) {
      for (const lost of failed) sum += negativeLogSigmoid(score[won] - score[lost]);
      pairs += failed.length;
    }
  }
  return pairs === 0 ? 0 : sum / pairs;
}

/**
 * iStar: a step's reward is how much likelier a process reward model finds it than the policy did; its comparison within
 * the group is added to that of the outcome.
 *
 *     s[t] = β · Σ (prmLogprob − logprob) of the turn's tokens;   batchNorm: s / (max |s| + 1e-6)
 *     A[t] = compared(outcome) + stepAdvantageWeight · compared(s)      by `comparison`; useProcessOnly: the second alone
 *     processOutcomeCombined: compared(outcome + stepAdvantageWeight · s), as rloo
 */
export const istar = defineEstimator({
  id: 'istar',
  version: 1,
  title: 'Implicit step rewards (OPRL / iStar)',
  citation: {
    paper: 'arXiv:2509.19199',
    code: 'Tongyi-ConvAI/Qwen-Character:CharacterRL-iStar/istar/core_istar.py@1de87a2',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'token.prmLogprob', 'token.logprob'],
  accepts: ['token.mask'],
  params: IstarParams,
  estimate(trajectories, columns, params) {
    const { turnOffsets, tokenOffsets } = trajectories;
    const { 'token.logprob': logprob, 'token.prmLogprob': prmLogprob, 'token.mask': mask } = columns;
    const outcome = columns['trajectory.outcomeReward'];
    const rewards = implicitReward(prmLogprob, logprob, tokenOffsets, mask, params.beta);
    const steps = params.processNormalization === 'batchNorm' ? byLargest(rewards) : rewards;

    const firstTurns = new Float64Array(steps.length);
    rowLengths(turnOffsets).forEach((length, i) => {
      if (length > 0) firstTurns[turnOffsets[i]] = 1;
    });
    const inSample = params.stepBaseline === 'firstTurn' ? firstTurns : null;
    const outcomes = repeatRows(outcome, turnOffsets);
    const compare = comparison(trajectories, mask, params);

    const level = 'turn';
    const explain = {
      turnProcessReward: { level, values: steps },
      preferenceLoss: {
        level: 'shard',
        values: Float64Array.of(preferenceLoss(trajectories, rewards, outcome)),
      },
    } as const;
    if (params.baseline === 'processOutcomeCombined') {
      const combined = steps.map((s, t) => outcomes[t] + params.stepAdvantageWeight * s);
      return { level, values: compare(combined, inSample), explain };
    }
    const [episode, step] = [compare(outcomes, firstTurns), compare(steps, inSample)];
    return {
      level,
      values: params.useProcessOnly ? step : episode.map((e, t) => e + params.stepAdvantageWeight * step[t]),
      explain: { ...explain, episodeAdvantage: { level, values: episode }, stepAdvantage: { level, values: step } },
    };
  },
});
