import type { NumericValues } from '#lib/dataset';
import { minMaxScaled, ownerOf, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { centred } from '../group-scores.js';
import { standardScores } from '../standard-scores.js';

const SpaeParams = z.strictObject({
  saturationThreshold: z.number().default(0.9).describe('potential above which the task counts as solved'),
  saturationDamping: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe('how far steps after saturation are damped (the alpha of the paper)'),
  bonusWeight: z.number().default(0.5).describe('weight of the change of potential (xi)'),
  statsScope: z
    .enum(['batch', 'group'])
    .default('batch')
    .describe('between which least and greatest a change of potential is placed: not stated in the source'),
  ddof: z
    .union([z.literal(0), z.literal(1)])
    .default(0)
    .describe('of the last standardisation: 0 population, 1 sample; not stated in the source'),
  epsilon: z.number().nonnegative().default(1e-8).describe('added to the spread of the last standardisation'),
});

/**
 * Step potential: 1 for right and sure, −1 for wrong and sure, 0 for unsure.
 *
 *     Φ = 1.5 · Acc · Conf + 0.5 · Acc − Conf
 */
export function stepPotential(accuracy: number, confidence: number): number {
  return 1.5 * accuracy * confidence + 0.5 * accuracy - confidence;
}

/**
 * Per turn the change of potential and how many earlier turns of the trajectory were saturated; per trajectory the
 * first saturated turn.
 *
 *     ΔΦ[0] = 0, ΔΦ[t] = Φ[t] − Φ[t − 1];  C[t] = #{s < t: Φ[s] > threshold};  first = min {t: Φ[t] > threshold}, or −1
 */
function saturation(potential: Float64Array, turnOffsets: Int32Array, threshold: number) {
  const delta = new Float64Array(potential.length);
  const saturatedBefore = new Float64Array(potential.length);
  const first = new Float64Array(turnOffsets.length - 1).fill(-1);
  for (let i = 0; i < first.length; i++) {
    let saturated = 0;
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      if (t > turnOffsets[i]) delta[t] = potential[t] - potential[t - 1];
      saturatedBefore[t] = saturated;
      if (!(potential[t] > threshold)) continue;
      if (saturated++ === 0) first[i] = t - turnOffsets[i];
    }
  }
  return { delta, saturatedBefore, first };
}

/** A success is right when it first saturates; a failure that ever did went from right to wrong. */
function flags(success: NumericValues, first: Float64Array) {
  const firstSaturatedTurn = first.map((turn, i) => (success[i] === 1 ? turn : -1));
  const rightToWrong = first.map((turn, i) => Number(success[i] !== 1 && turn >= 0));
  return { firstSaturatedTurn, rightToWrong };
}

/**
 * SPAE: the outcome damped after the task was solved, plus the change of potential. The potentials and flags are the
 * published script's; how they enter the advantage is reconstructed.
 *
 *     f[t] = 1 − α (1 − e^−C[t])
 *     b[t] = e^d[t] − mean e^d      d: ΔΦ placed between its least (0) and greatest (1)
 *     A[t] = z((S − mean_g S) · f[t] + ξ · b[t])      S: success; z over all turns of the batch
 */
export const spae = defineEstimator({
  id: 'spae',
  version: 1,
  title: 'Step potential advantage (SPAE), approximate',
  citation: { paper: 'arXiv:2601.03823', code: 'cii030/SPAE-RL:inference/probe_mechanism_example.py@ed529f8' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.probeAccuracy', 'turn.probeConfidence', 'trajectory.success'],
  accepts: [],
  params: SpaeParams,
  estimate({ turnOffsets, groupOf, groupCount }, columns, params) {
    const confidence = columns['turn.probeConfidence'];
    const potential = Float64Array.from(columns['turn.probeAccuracy'], (acc, t) => stepPotential(acc, confidence[t]));
    const { delta, saturatedBefore, first } = saturation(potential, turnOffsets, params.saturationThreshold);

    const success = columns['trajectory.success'];
    const outcome = centred(success, groupOf, segmentMoments(success, null, groupOf, groupCount), 'zero');
    const trajectoryOf = ownerOf(turnOffsets);
    const isByGroup = params.statsScope === 'group';
    const scopeOf = isByGroup ? trajectoryOf.map((i) => groupOf[i]) : null;
    const bonus = minMaxScaled(delta, scopeOf, isByGroup ? groupCount : 1).map((place) => Math.exp(place));

    const batch = new Int32Array(delta.length);
    const centredBonus = centred(bonus, batch, segmentMoments(bonus, null, batch, 1), 'zero');
    const advantage = centredBonus.map((b, t) => {
      const damping = 1 - params.saturationDamping * (1 - Math.exp(-saturatedBefore[t]));
      return outcome[trajectoryOf[t]] * damping + params.bonusWeight * b;
    });
    const level = 'turn';
    const { firstSaturatedTurn, rightToWrong } = flags(success, first);
    return {
      level,
      values: standardScores(advantage, batch, 1, { ...params, singleton: 'zero' }),
      explain: {
        turnPotential: { level, values: potential },
        deltaPotential: { level, values: delta },
        firstSaturatedTurn: { level: 'trajectory', values: firstSaturatedTurn },
        rightToWrong: { level: 'trajectory', values: rightToWrong },
      },
    };
  },
});
