import type { NumericValues } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';

const DopaminePbrsParams = z.strictObject({
  gamma: z.number().min(0).max(1).default(0.99).describe('discount of the potential'),
  variant: z
    .enum(['average', 'conservative'])
    .default('average')
    .describe('which progress is the potential: the mean of three readings, or the one that doubts them'),
  consistencyAlpha: z
    .number()
    .nonnegative()
    .default(1)
    .describe('how fast readings that disagree lose their weight (value not published)'),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the progress they are compared with (assumed)'),
  doneMargin: z.number().min(0).max(1).default(0.05).describe('how near 1 progress counts as done'),
});

/** Progress after a relative hop: a share of what is left, or a loss of a share of what was covered. */
const change = (progress: number, hop: number) => (hop >= 0 ? (1 - progress) * hop : progress * hop);

/**
 * Three readings of a reward model, fused to progress. Φ[−1] = 0.
 *
 *     Δ[t] = (1 − Φ[t−1]) · hop where hop ≥ 0, else Φ[t−1] · hop
 *     average:       Φ[t] = mean of Φ[t−1] + Δ[t], forward, backward               backward = 1 + backwardHop
 *     conservative:  Φ[t] = Φ[t−1] + w/2 · (m − Φ[t−1] + Δ[t])                     each from its own history
 *                    m = (forward + backward) / 2,  w = exp(−α · ((backward − forward) / (m + ε))²)
 *
 * @param hop, forwardHop, backwardHop [turns]
 */
export function fuseProgress(
  hop: NumericValues,
  forwardHop: NumericValues,
  backwardHop: NumericValues,
  turnOffsets: Int32Array,
  { consistencyAlpha, epsilon }: { readonly consistencyAlpha: number; readonly epsilon: number },
) {
  const forward = Float64Array.from(forwardHop);
  const backward = Float64Array.from(backwardHop, (value) => 1 + value);
  const incremental = new Float64Array(hop.length);
  const average = new Float64Array(hop.length);
  const weight = new Float64Array(hop.length);
  const conservative = new Float64Array(hop.length);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      const isFirst = t === turnOffsets[i];
      const before = isFirst ? 0 : average[t - 1];
      incremental[t] = before + change(before, hop[t]);
      average[t] = (incremental[t] + forward[t] + backward[t]) / 3;

      const doubted = isFirst ? 0 : conservative[t - 1];
      const middle = (forward[t] + backward[t]) / 2;
      weight[t] = Math.exp(-consistencyAlpha * ((backward[t] - forward[t]) / (middle + epsilon)) ** 2);
      conservative[t] = doubted + (weight[t] / 2) * (middle - doubted + change(doubted, hop[t]));
    }
  }
  return { forward, backward, incremental, average, weight, conservative };
}

/**
 * Robo-Dopamine: a reward model's readings become progress, and progress a shaped reward.
 *
 *     r[t] = gold[t] + γ · Φ[t] − Φ[t−1]      gold = 1 where Φ ≥ 1 − doneMargin, else 0; Φ by fuseProgress
 *
 * The potential is not zeroed at the end, and gold can be paid on several turns.
 */
export const dopaminePbrs = defineEstimator({
  id: 'dopamine-pbrs',
  version: 1,
  title: 'Shaping by a general reward model (Robo-Dopamine)',
  citation: { code: 'FlagOpen/Robo-Dopamine:examples/inference.py@7d4415f' },
  status: 'verified',
  gives: 'reward',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.hop', 'turn.forwardHop', 'turn.backwardHop'],
  accepts: [],
  params: DopaminePbrsParams,
  estimate({ turnOffsets }, columns, params) {
    const { 'turn.hop': hop, 'turn.forwardHop': forwardHop, 'turn.backwardHop': backwardHop } = columns;
    const progress = fuseProgress(hop, forwardHop, backwardHop, turnOffsets, params);
    const potential = progress[params.variant];
    const gold = potential.map((value) => (value >= 1 - params.doneMargin ? 1 : 0));
    const values = new Float64Array(hop.length);
    for (let i = 0; i + 1 < turnOffsets.length; i++) {
      for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
        values[t] = gold[t] + params.gamma * potential[t] - (t === turnOffsets[i] ? 0 : potential[t - 1]);
      }
    }
    const level = 'turn';
    return {
      level,
      values,
      explain: {
        incrementalProgress: { level, values: progress.incremental },
        forwardProgress: { level, values: progress.forward },
        backwardProgress: { level, values: progress.backward },
        fusedProgress: { level, values: progress.average },
        consistencyWeight: { level, values: progress.weight },
        conservativeProgress: { level, values: progress.conservative },
        goldReward: { level, values: gold },
        turnReward: { level, values },
      },
    };
  },
});
