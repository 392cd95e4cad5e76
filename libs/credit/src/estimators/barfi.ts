import { numbers, type NumericValues, type TrajectoryBatch } from '#lib/dataset';
import { discountedSums, pairLabels, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { equalStates } from '../state-groups.js';

const BarfiParams = z.strictObject({
  auxiliarySignals: z
    .array(z.string().min(1))
    .max(64)
    .default([])
    .describe('names of the turn signals that may be blended into the reward'),
  learningRate: z.number().nonnegative().default(0.1).describe('length of a step of the weights (assumed)'),
  steps: z.int().min(0).max(1_000_000).default(100).describe('number of steps (assumed)'),
  phiMin: z.number().default(0).describe('smallest weight (assumed)'),
  phiMax: z.number().default(2).describe('largest weight (assumed)'),
  gammaInner: z.number().min(0).max(1).default(1).describe('discount per turn of what is blended'),
  gamma: z.number().min(0).max(1).default(1).describe('discount per turn of the true return'),
});

/** Part of the product of two lengths below which an inner product is a rounding. */
const NOISE = 1e-12;

/**
 * Which way a return pushes a tabular policy: per state and action, what the action brought beyond its share.
 *
 *     g[s,a] = mean over trajectories of ( Σ_{t: s,a} G[t] − π(a|s) · Σ_{t: s} G[t] )      π: the share of a among the visits of s
 *
 * @param stateOf, actOf [turns] labels of states, and of actions in states
 * @returns [actions in states]
 */
function policyGradient(
  returns: Float64Array,
  stateOf: { readonly labels: Int32Array; readonly count: number },
  actOf: { readonly labels: Int32Array; readonly count: number },
  trajectoryCount: number,
): Float64Array {
  const ofState = segmentMoments(returns, null, stateOf.labels, stateOf.count);
  const ofAct = segmentMoments(returns, null, actOf.labels, actOf.count);
  const gradient = new Float64Array(actOf.count);
  actOf.labels.forEach((act, t) => {
    // Σ_a G − π Σ_s G = n_a (mean_a − mean_s)
    if (act >= 0)
      gradient[act] = (ofAct.weight[act] * (ofAct.mean[act] - ofState.mean[stateOf.labels[t]])) / trajectoryCount;
  });
  return gradient;
}

/**
 * The weights of the primary reward (first) and of each auxiliary signal, moved along the agreement of what they teach
 * with what the true return teaches.
 *
 *     m[k] = ⟨g_primary, g_k⟩
 *     φ[k] ← clip(φ[k] + rate · m[k] / (|m| + 1e-8), φmin, φmax)      from φ = (1, 0, …, 0)
 *
 * m does not depend on φ, so the steps are taken at once.
 */
export function blendWeights(
  gradients: readonly Float64Array[],
  { learningRate, steps, phiMin, phiMax }: z.infer<typeof BarfiParams>,
): { weights: Float64Array; alignment: Float64Array } {
  const [primary] = gradients;
  const inner = (a: Float64Array, b: Float64Array) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const alignment = Float64Array.from(gradients, (gradient) => {
    const product = inner(primary, gradient);
    const noise = NOISE * Math.sqrt(inner(primary, primary) * inner(gradient, gradient));
    return Math.abs(product) <= noise ? 0 : product;
  });
  const length = Math.hypot(...alignment);
  const weights = alignment.map((m, k) => {
    const moved = (k === 0 ? 1 : 0) + (steps * learningRate * m) / (length + 1e-8);
    return Math.min(phiMax, Math.max(phiMin, moved));
  });
  return { weights, alignment };
}

/**
 * BARFI, one step of it, tabular and offline: auxiliary signals are blended into the reward as far as they would have pushed
 * the policy where the true return pushes it.
 *
 *     r'[t] = Σ_k φ[k] · f_k[t]                  f_0: the recorded reward; φ: blendWeights, once per training step
 *     A[t]  = G'[t] − mean of G' over the turns of the group that started from the same state
 */
export const barfi = defineEstimator({
  id: 'barfi',
  version: 1,
  title: 'Blended auxiliary rewards, offline surrogate (BARFI)',
  citation: { work: 'Gupta et al., Behavior Alignment via Reward Function Optimization, NeurIPS 2023' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.reward', 'turn.state', 'turn.action'],
  accepts: [],
  signalParams: [{ param: 'auxiliarySignals', level: 'turn' }],
  params: BarfiParams,
  estimate(trajectories, columns, params) {
    const { turnOffsets } = trajectories;
    const reward = columns['turn.reward'];
    const auxiliary = params.auxiliarySignals.map((name) => columnOf(trajectories, name));
    const states = equalStates(trajectories);
    const acts = pairLabels(states.labels, trajectories.actionKey);
    const gradientOf = (values: NumericValues, gamma: number) =>
      policyGradient(discountedSums(values, turnOffsets, gamma), states, acts, trajectories.ids.length);

    const gradients = [gradientOf(reward, params.gamma), ...auxiliary.map((f) => gradientOf(f, params.gammaInner))];
    const { weights, alignment } = blendWeights(gradients, params);
    const blended = Float64Array.from(reward, (r, t) => {
      return auxiliary.reduce((sum, f, k) => sum + weights[k + 1] * f[t], weights[0] * r);
    });
    const blendedReturn = discountedSums(blended, turnOffsets, params.gammaInner);
    const { mean, std } = segmentMoments(blendedReturn, null, states.labels, states.count);
    const level = 'turn';
    return {
      level,
      values: blendedReturn.map((g, t) => (std[states.labels[t]] === 0 ? 0 : g - mean[states.labels[t]])),
      explain: {
        turnReward: { level, values: blended },
        turnReturn: { level, values: blendedReturn },
        signalWeight: { level: 'shard', values: weights, offsets: Int32Array.of(0, weights.length) },
        signalAlignment: { level: 'shard', values: alignment, offsets: Int32Array.of(0, alignment.length) },
      },
    };
  },
});

/** The signals that a param names are required, so they are there; a level without rows has none. */
function columnOf(trajectories: TrajectoryBatch, name: string): NumericValues {
  return numbers(trajectories, `turn.${name}`) ?? new Float64Array(trajectories.stateKey.length);
}
