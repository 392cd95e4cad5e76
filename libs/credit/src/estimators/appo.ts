import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { clamp, discountedSums, ownerOf, pairLabels, rowLengths, rowsWhere, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { branchesOf, branchingTokens, rowsOfGroups, standardizedInRollouts, type Branch } from '../branching-tokens.js';
import { defineEstimator } from '../estimator.js';
import { withoutRounding } from '../group-advantage.js';
import { centred, scaled } from '../group-scores.js';
import { rowsOfTrajectories } from '../level-rows.js';

const AppoParams = z.strictObject({
  gamma: z.number().min(0).max(1).default(1).describe('discount per token of the future value'),
  futureClip: z.number().min(0).max(1).default(0.2).describe('future value and influence stay within 1 - and 1 + this'),
  branchesPerPrompt: z.int().nonnegative().max(4096).default(8).describe('tokens chosen per group, to branch at'),
  rewardScaleDiscount: z.number().min(0).max(1).default(0.9).describe('how fast a branch fades before its split'),
  normalizeByStd: z.boolean().default(true).describe('divide by the spread of the group of one kind'),
  dualClip: z.number().min(1).default(3).describe('a ratio beyond it has no influence, and may drop its rollout'),
  decayRate: z.number().positive().default(128).describe('tokens in which influence halves; the scripts say 64'),
  clipHighOnly: z.boolean().default(false).describe('influence is never below 1, as in the scripts'),
  futureWeight: z.number().default(1).describe('weight of the influence'),
  safetyThreshold: z
    .number()
    .positive()
    .default(4)
    .describe('a punished token whose ratio is above it is not amplified'),
});
type Params = z.infer<typeof AppoParams>;

const MAX_LOG = 20;
const EPSILON = 1e-6;
/** Influence on a punished token that became much likelier stays between this and 1. */
const SAFE_LEAST = 0.8;

/**
 * How much likelier what follows became.
 *
 *     Ω[j] = clip(e^clip(Σ_{m ≥ j} γ^(m − j) (logprob[m] − rollout[m]), ±20), 1 − futureClip, 1 + futureClip)
 *
 * @param takesPart [tokens] 0 elsewhere
 */
function futureValues(
  logprob: NumericValues,
  rolloutLogprob: NumericValues,
  offsets: Int32Array,
  takesPart: Float64Array,
  { gamma, futureClip }: Params,
): Float64Array {
  const difference = takesPart.map((is, k) => (is === 1 ? logprob[k] - rolloutLogprob[k] : 0));
  return discountedSums(difference, offsets, gamma, takesPart).map((sum, k) =>
    takesPart[k] === 1 ? clamp(Math.exp(clamp(sum, -MAX_LOG, MAX_LOG)), 1 - futureClip, 1 + futureClip) : 0,
  );
}

/**
 * Rewards as the branches scale them. The reward lies on the last token, so only a split there changes it.
 *
 *     R'[parent] = R · mean over its branches of M,  M = 1 + score / (greatest score) · d^(split − last), 1 if split < last
 *
 * @param lengths [trajectories] generated tokens
 */
export function scaledRewards(
  reward: NumericValues,
  branches: readonly Branch[],
  lengths: Float64Array,
  greatest: number,
  discount: number,
): Float64Array {
  const sum = new Float64Array(reward.length);
  const count = new Float64Array(reward.length);
  for (const { parent, split, score } of branches) {
    const last = lengths[parent] - 1;
    const factor = split >= last && greatest !== 0 ? 1 + (score / greatest) * discount ** (split - last) : 1;
    sum[parent] += factor;
    count[parent]++;
  }
  return Float64Array.from(reward, (r, i) => (count[i] === 0 ? r : r * (sum[i] / count[i])));
}

/**
 * What init rollouts get per token: their own advantage, and the mean of those of their branches that split off there or
 * later. Branches themselves get 0.
 *
 * @param tokenPlace [tokens] place among the generated tokens of its trajectory; -1: not generated
 */
function sharedAdvantage(
  base: Float64Array,
  branches: readonly Branch[],
  isBranch: (trajectory: number) => boolean,
  offsets: Int32Array,
  tokenPlace: Int32Array,
): Float64Array {
  const advantage = new Float64Array(tokenPlace.length);
  const childrenOf = Map.groupBy(branches, ({ parent }) => parent);
  for (let i = 0; i + 1 < offsets.length; i++) {
    if (isBranch(i)) continue;
    const children = (childrenOf.get(i) ?? []).toSorted((a, b) => b.split - a.split);
    let sum = 0;
    let count = 0;
    for (let k = offsets[i + 1] - 1; k >= offsets[i]; k--) {
      if (tokenPlace[k] < 0) continue;
      while (count < children.length && children[count].split >= tokenPlace[k])
        sum += base[children[count++].trajectory];
      advantage[k] = base[i] + (count === 0 ? 0 : sum / count);
    }
  }
  return advantage;
}

/** [tokens] place among the generated tokens of its trajectory; -1: not generated */
function places(offsets: Int32Array, mask: NumericValues | undefined): Int32Array {
  const place = new Int32Array(offsets[offsets.length - 1]).fill(-1);
  for (let i = 0; i + 1 < offsets.length; i++) {
    let next = 0;
    for (let k = offsets[i]; k < offsets[i + 1]; k++) if (mask?.[k] !== 0) place[k] = next++;
  }
  return place;
}

/**
 * How much what follows moved during the update, and which rollouts stay in the loss.
 *
 *     Δ[j] = clip(updated − logprob, ±20), 0 beyond ln dualClip;  F[j] = Σ_{m ≥ j} 2^(−(m − j) / decayRate) Δ[m]
 *     f[j] = clip(e^F[j], 1 − futureClip or 1, 1 + futureClip);  A < 0 and ratio > safetyThreshold: clip(f, 0.8, 1)
 *     kept[i] = 0 where more than one token with A < 0 has a ratio beyond dualClip
 */
function influences(
  updated: NumericValues,
  logprob: NumericValues,
  advantage: Float64Array,
  offsets: Int32Array,
  generated: Float64Array,
  params: Params,
) {
  const moved = generated.map((is, k) => (is === 1 ? clamp(updated[k] - logprob[k], -MAX_LOG, MAX_LOG) : 0));
  const bound = Math.log(params.dualClip);
  const counted = moved.map((delta) => (delta <= bound ? delta : 0));
  const future = discountedSums(counted, offsets, 2 ** (-1 / params.decayRate), generated);
  const least = params.clipHighOnly ? 1 : 1 - params.futureClip;
  const influence = future.map((sum, k) => {
    if (generated[k] === 0) return 0;
    const f = clamp(Math.exp(sum), least, 1 + params.futureClip);
    return advantage[k] < 0 && Math.exp(moved[k]) > params.safetyThreshold ? clamp(f, SAFE_LEAST, 1) : f;
  });
  const kept = new Float64Array(offsets.length - 1);
  for (let i = 0; i < kept.length; i++) {
    let beyond = 0;
    for (let k = offsets[i]; k < offsets[i + 1]; k++) if (advantage[k] < 0 && moved[k] > bound) beyond++;
    kept[i] = Number(beyond <= 1);
  }
  return { influence, kept };
}

/**
 * APPO: rollouts branch where the policy is unsure and what follows became likelier; the branches' outcomes correct the
 * credit of the beginning that they share with their parent.
 *
 *     base[i] = (R'[i] − mean) / (std + 1e-6)      over rollouts of one group and kind, ddof = 0; one alone: 0
 *     A[j] = base[parent] + mean of base over its branches with split ≥ j;  0 on branches
 *     weighted[j] = A[j] · (1 + futureWeight · f[j])
 */
export const appo = defineEstimator({
  id: 'appo',
  version: 1,
  title: 'Procedural branching advantage (APPO)',
  citation: { paper: 'arXiv:2606.12384', code: 'AMAP-ML/APPO:verl/trainer/ppo/ray_trainer.py@b04e7e9' },
  status: 'verified',
  gives: 'advantage',
  levels: ['token'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'trajectory.rolloutKind', 'token.logprob', 'token.updatedLogprob'],
  accepts: ['token.mask'],
  conditional: [
    {
      when: {},
      where: { signal: 'trajectory.rolloutKind', is: 'init' },
      requires: ['token.rolloutLogprob', 'token.entropy', 'token.whitespace'],
    },
    {
      when: {},
      where: { signal: 'trajectory.rolloutKind', is: 'branch' },
      requires: ['trajectory.splitToken', 'trajectory.branchScore'],
    },
  ],
  kinds: { 'trajectory.rolloutKind': z.enum(['init', 'branch']) },
  params: AppoParams,
  estimate(trajectories, columns, params) {
    const { groupOf, groupCount, ids } = trajectories;
    const mask = columns['token.mask'];
    const { 'trajectory.rolloutKind': kind, 'token.logprob': logprob, 'token.entropy': entropy } = columns;
    const isBranch = (i: number) => kind[i] === 'branch';
    const offsets = rowsOfTrajectories(trajectories, 'token');
    const trajectoryOf = ownerOf(offsets);
    const place = places(offsets, mask);
    const generated = Float64Array.from(place, (j) => Number(j >= 0));
    const takesPart = generated.map((is, k) => (isBranch(trajectoryOf[k]) ? 0 : is));

    const future = futureValues(logprob, columns['token.rolloutLogprob'], offsets, takesPart, params);
    const rolloutOf = trajectoryOf.map((i, k) => (takesPart[k] === 1 ? i : -1));
    const unsure = standardizedInRollouts(Float64Array.from(entropy), rolloutOf, ids.length, EPSILON);
    const likelier = standardizedInRollouts(future, rolloutOf, ids.length, EPSILON);
    const isCandidate = (k: number) => takesPart[k] === 1 && columns['token.whitespace'][k] !== 1;
    const score = unsure.map((value, k) => (isCandidate(k) ? value * likelier[k] : 0));
    const candidates = rowsWhere(score.length, isCandidate);
    const isStrict = (k: number) => unsure[k] > 0 && likelier[k] > 0;
    const selected = rowsOfGroups(candidates, (k) => groupOf[trajectoryOf[k]], groupCount).flatMap((rows) =>
      branchingTokens(score, isStrict, rows, params.branchesPerPrompt),
    );

    const { 'trajectory.splitToken': split, 'trajectory.branchScore': branchScore } = columns;
    const { branches, orphans } = branchesOf(trajectories, isBranch, split, branchScore);
    const greatest = kind.reduce((most, _, i) => (isBranch(i) ? Math.max(most, branchScore[i]) : most), -Infinity);
    const lengths = rowLengths(offsets, mask);
    const outcome = columns['trajectory.outcomeReward'];
    const reward = scaledRewards(outcome, branches, lengths, greatest, params.rewardScaleDiscount);
    const base = baseOfKinds(reward, trajectories, isBranch, params.normalizeByStd);
    const advantage = sharedAdvantage(base, branches, isBranch, offsets, place);
    const updated = columns['token.updatedLogprob'];
    const { influence, kept } = influences(updated, logprob, advantage, offsets, generated, params);

    const level = 'token';
    const list = { level: 'shard', offsets: Int32Array.of(0, selected.length) } as const;
    return {
      level,
      values: advantage,
      explain: {
        futureValue: { level, values: future },
        branchScore: { level, values: score },
        'selectedBranches.trajectory': { ...list, values: selected.map((k) => ids[trajectoryOf[k]]) },
        'selectedBranches.token': { ...list, values: Float64Array.from(selected, (k) => place[k]) },
        'selectedBranches.score': { ...list, values: Float64Array.from(selected, (k) => score[k]) },
        trajectoryReward: { level: 'trajectory', values: reward },
        baseAdvantage: { level: 'trajectory', values: base },
        influenceWeight: { level, values: influence },
        weightedTokenAdvantage: {
          level,
          values: advantage.map((value, k) => value * (1 + params.futureWeight * influence[k])),
        },
        keptInLoss: { level: 'trajectory', values: kept },
      },
      warnings: orphans > 0 ? [`branches whose init rollout is not in the batch: ${orphans}`] : [],
    };
  },
});

/** [trajectories] against the rollouts of the same group and kind */
function baseOfKinds(
  reward: Float64Array,
  { groupOf }: TrajectoryBatch,
  isBranch: (trajectory: number) => boolean,
  normalizeByStd: boolean,
): Float64Array {
  const kinds = Int32Array.from(groupOf, (_, i) => Number(isBranch(i)));
  const { labels, count } = pairLabels(groupOf, kinds);
  const moments = segmentMoments(reward, null, labels, count, 0);
  const centre = withoutRounding(centred(reward, labels, moments, 'zero'), reward);
  return normalizeByStd ? scaled(centre, labels, moments, EPSILON) : centre;
}
