import { numbers, type NumericValues, type TrajectoryBatch } from '#lib/dataset';
import { composeOffsets } from '#lib/numeric';
import { z } from 'zod';
import { figure, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';
import { tokenCredit } from '../token-credit.js';

export interface StalenessOptions {
  /** PPO's clip range: a ratio below 1 − clipLow or above 1 + clipHigh is clipped */
  readonly clipLow: number;
  readonly clipHigh: number;
  /** importance weights are cut here */
  readonly isThreshold: number;
}

/** Log-ratios enter an exponential no larger than this. */
const MOST = 20;

/**
 * How far the policy that is trained is from the one that sampled. Per generated token ℓ = logprob, ℓ' = rolloutLogprob,
 * d = ℓ − ℓ', ρ = e^d.
 *
 *     kl = mean(−d),  k2 = mean(d²/2),  k3 = mean(ρ − 1 − d)
 *     perplexities         mean over trajectories of exp(−mean ℓ) and exp(−mean ℓ')
 *     logPplDiff           mean ℓ' − mean ℓ of a trajectory: mean, mean of |·|, greatest, least; pplRatio = mean of its exp
 *     chi2Token            mean e^(2 clip(d, ±20)) − 1;  chi2Sequence the same of Σ d per trajectory
 *     clipLowFraction      share of tokens with ρ < 1 − clipLow and A < 0;  high: ρ > 1 + clipHigh and A > 0
 *     effectiveSampleShare 1 / mean((w / w̄)²),  w = min(ρ, isThreshold);  weightStd the deviation of w / w̄
 *     versionLag           mean of trainingStep − policyVersion over trajectories
 *
 * Source: verl rollout_corr_helper.py, compute_offpolicy_metrics; clip fractions TRL grpo_trainer.py.
 *
 * @param credit [tokens] the sign of A; null: nothing is said of clipping
 */
export function policyStaleness(
  trajectories: TrajectoryBatch,
  credit: NumericValues | null,
  { clipLow, clipHigh, isThreshold }: StalenessOptions,
) {
  const logprob = numbers(trajectories, 'token.logprob');
  const rollout = numbers(trajectories, 'token.rolloutLogprob');
  const mask = numbers(trajectories, 'token.mask');
  const offsets = composeOffsets(trajectories.turnOffsets, trajectories.tokenOffsets);
  const perTrajectory: { readonly row: number; readonly logPplDiff: number }[] = [];
  let n = 0;
  let kl = 0;
  let k2 = 0;
  let ratios = 0;
  let chi2 = 0;
  let most = 0;
  let absolute = 0;
  let low = 0;
  let high = 0;
  let weights = 0;
  let squares = 0;
  let trainingPpl = 0;
  let rolloutPpl = 0;
  let chi2Sequence = 0;
  const rows = logprob === null || rollout === null ? 0 : offsets.length - 1;
  for (let i = 0; i < rows; i++) {
    let count = 0;
    let sum = 0;
    let sumRollout = 0;
    for (let k = offsets[i]; k < offsets[i + 1]; k++) {
      const l = logprob![k];
      const r = rollout![k];
      const d = l - r;
      if ((mask !== null && mask[k] === 0) || d !== d) continue;
      const ratio = Math.exp(d);
      count++;
      sum += l;
      sumRollout += r;
      k2 += d * d;
      ratios += ratio;
      chi2 += Math.abs(d) <= MOST ? ratio * ratio : Math.exp(2 * cut(d));
      if (ratio > most) most = ratio;
      absolute += Math.abs(d);
      const weight = ratio < isThreshold ? ratio : isThreshold;
      weights += weight;
      squares += weight * weight;
      if (credit !== null) {
        if (ratio < 1 - clipLow && credit[k] < 0) low++;
        else if (ratio > 1 + clipHigh && credit[k] > 0) high++;
      }
    }
    if (count === 0) continue;
    n += count;
    kl += sumRollout - sum;
    trainingPpl += Math.exp(-sum / count);
    rolloutPpl += Math.exp(-sumRollout / count);
    chi2Sequence += Math.exp(2 * cut(sum - sumRollout));
    perTrajectory.push({ row: i, logPplDiff: (sumRollout - sum) / count });
  }
  const sequences = perTrajectory.length;
  const meanOf = (total: number, count = n) => (count === 0 ? null : total / count);
  const diffs = perTrajectory.map(({ logPplDiff }) => logPplDiff);
  const total = (of: (diff: number) => number) => diffs.reduce((all, diff) => all + of(diff), 0);
  const share = n === 0 ? null : (weights * weights) / (n * squares);
  const clipped = (count: number) => (credit === null ? null : meanOf(count));
  return {
    tokenCount: n,
    kl: meanOf(kl),
    k2: meanOf(k2 / 2),
    // Σ(ρ − 1 − d), and Σ(−d) is kl
    k3: meanOf(ratios - n + kl),
    trainingPpl: meanOf(trainingPpl, sequences),
    rolloutPpl: meanOf(rolloutPpl, sequences),
    logPplDiff: meanOf(total((diff) => diff), sequences), // prettier-ignore
    logPplAbsDiff: meanOf(total(Math.abs), sequences),
    logPplDiffMax: sequences === 0 ? null : diffs.reduce((a, b) => Math.max(a, b)),
    logPplDiffMin: sequences === 0 ? null : diffs.reduce((a, b) => Math.min(a, b)),
    pplRatio: meanOf(total(Math.exp), sequences),
    chi2Token: n === 0 ? null : chi2 / n - 1,
    chi2Sequence: sequences === 0 ? null : chi2Sequence / sequences - 1,
    meanRatio: meanOf(ratios),
    maxRatio: n === 0 ? null : most,
    meanAbsLogDiff: meanOf(absolute),
    clipLowFraction: clipped(low),
    clipHighFraction: clipped(high),
    clipFraction: clipped(low + high),
    effectiveSampleShare: share,
    weightStd: share === null ? null : Math.sqrt(Math.max(0, 1 / share - 1)),
    versionLag: versionLag(trajectories),
    perTrajectory,
  };
}

const cut = (d: number) => Math.max(-MOST, Math.min(MOST, d));

function versionLag(trajectories: TrajectoryBatch): number | null {
  const version = numbers(trajectories, 'trajectory.policyVersion');
  let sum = 0;
  let count = 0;
  version?.forEach((said, i) => {
    if (Number.isNaN(said)) return;
    sum += trajectories.trainingStep[i] - said;
    count++;
  });
  return count === 0 ? null : sum / count;
}

const EVIDENCE_PER_STEP = 3;
const RATIO = 2;

export const policyStalenessDiagnostic = stepwise({
  id: 'policy-staleness',
  version: 1,
  title: 'Policy that sampled, policy that trains',
  question: 'How far is the policy that is trained from the one that sampled?',
  remedy:
    'Fewer updates per training step, truncated importance weights; where both should be the same weights, compare the numerics of engine and trainer.',
  headline: 'kl',
  level: 'trainingStep',
  status: 'verified',
  source: 'verl rollout_corr_helper.py and its health check; TRL grpo_trainer.py; clip and sign limits ours',
  requires: ['token.logprob', 'token.rolloutLogprob'],
  accepts: [
    'token.loggedAdvantage',
    'turn.loggedAdvantage',
    'trajectory.loggedAdvantage',
    'trajectory.outcomeReward',
    'trajectory.policyVersion',
    'token.mask',
  ],
  metrics: [],
  params: z.strictObject({
    clipLow: z.number().min(0).max(1).default(0.2).describe('a ratio below 1 minus this is clipped'),
    clipHigh: z.number().min(0).default(0.28).describe('a ratio above 1 plus this is clipped'),
    isThreshold: z.number().positive().default(2).describe('importance weights are cut here'),
  }),
  thresholds: z.strictObject({
    effectiveShare: z.number().min(0).max(1).default(0.3).describe('effective samples: a smaller share is a warning'),
    weightStd: z.number().positive().default(1).describe('deviation of the weights: more is a warning'),
    kl: z.number().positive().default(0.1).describe('nats per token, either way: more is a warning'),
    chi2: z.number().positive().default(1).describe('of tokens: more is a warning'),
    clipFraction: z.number().min(0).max(1).default(0.2).describe('clipped tokens: a greater share is a warning'),
    wrongSign: z.number().min(0).default(0.01).describe('nats per token that the divergence may be below 0'),
  }),

  measure({ trajectories }, params) {
    const credit = tokenCredit(trajectories);
    const { tokenCount, perTrajectory, ...values } = policyStaleness(trajectories, credit?.values ?? null, params);
    if (tokenCount === 0) return null;
    const { ids, groups, groupOf } = trajectories;
    return {
      values: {
        ...values,
        absoluteKl: Math.abs(values.kl!),
        ratioFactor: Math.max(values.meanRatio!, 1 / values.meanRatio!),
      },
      reasons: {
        ...Object.fromEntries(
          ['clipLowFraction', 'clipHighFraction', 'clipFraction'].map((name) => [name, 'no advantage is known']),
        ),
        versionLag: 'policyVersion was not recorded',
      },
      observations: tokenCount,
      evidence: perTrajectory
        .toSorted((a, b) => Math.abs(b.logPplDiff) - Math.abs(a.logPplDiff))
        .slice(0, EVIDENCE_PER_STEP)
        .filter(({ logPplDiff }) => logPplDiff !== 0)
        .map(({ row, logPplDiff }) => ({
          group: groups[groupOf[row]],
          trajectory: ids[row],
          note: `log-probabilities differ by ${figure(logPplDiff)} nats per token`,
          weight: Math.abs(logPplDiff),
        })),
    };
  },

  sentence: ({ kl, effectiveSampleShare, clipFraction }) =>
    `the divergence of the trained policy from the one that sampled is ${figure(kl ?? 0)} nats per token; importance weights leave what ${percent(effectiveSampleShare ?? 0)} of the tokens are worth${clipFraction == null ? '' : `, ${percent(clipFraction)} are clipped`}`,

  rules: ({ effectiveShare, weightStd, kl, chi2, clipFraction, wrongSign }) => [
    {
      id: 'few-effective',
      level: 'warn',
      all: [{ value: 'effectiveSampleShare', op: '<', limit: effectiveShare }],
      says: `less than ${percent(effectiveShare)} of the tokens count after importance weighting`,
    },
    {
      id: 'ratio-off',
      level: 'warn',
      all: [{ value: 'ratioFactor', op: '>', limit: RATIO }],
      says: 'the mean ratio of the two policies is below one half or above two',
    },
    {
      id: 'weights-spread',
      level: 'warn',
      all: [{ value: 'weightStd', op: '>', limit: weightStd }],
      says: `importance weights deviate by more than ${figure(weightStd)}`,
    },
    {
      id: 'far-off',
      level: 'warn',
      all: [{ value: 'absoluteKl', op: '>', limit: kl }],
      says: `the policies are more than ${figure(kl)} nats per token apart`,
    },
    {
      id: 'heavy-tail',
      level: 'warn',
      all: [{ value: 'chi2Token', op: '>', limit: chi2 }],
      says: `the chi-square divergence of tokens is above ${figure(chi2)}`,
    },
    {
      id: 'much-clipped',
      level: 'warn',
      all: [{ value: 'clipFraction', op: '>', limit: clipFraction }],
      says: `more than ${percent(clipFraction)} of the tokens are clipped`,
    },
    {
      id: 'wrong-sign',
      level: 'info',
      all: [{ value: 'kl', op: '<', limit: -wrongSign }],
      says: 'the divergence is negative on average: wrong pairs of log-probabilities, or another temperature',
    },
  ],
});
