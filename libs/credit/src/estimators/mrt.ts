import type { NumericValues } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';

const MrtParams = z.strictObject({
  granularity: z
    .enum(['turn', 'trajectory'])
    .default('turn')
    .describe("credit per turn (progress), or per trajectory against answering before it ('trajectory')"),
  cutoffs: z
    .array(z.number().positive())
    .default([4096, 8192, 12288, 16384])
    .describe('token budgets at which area and regret are taken'),
});

/**
 * Share of a token budget's area that lies under the success curve: 1 for who succeeds at once and stays so.
 *
 *     points (0, 0), (x[t], y[t]);  area = ∫ y dx over 0 .. C, linear between points, flat after the last;  area / C
 *
 * Starts at 0 and not at the success of answering at once, as the reference does.
 *
 * @param success, tokens [turns] y and x, x rising
 * @param from, to the turns of one trajectory
 */
export function areaUnderSuccess(
  success: NumericValues,
  tokens: NumericValues,
  from: number,
  to: number,
  cutoff: number,
): number {
  let area = 0;
  let x = 0;
  let y = 0;
  for (let t = from; t < to; t++) {
    if (tokens[t] >= cutoff) {
      const atCutoff = y + ((success[t] - y) * (cutoff - x)) / (tokens[t] - x);
      return (area + ((cutoff - x) * (y + atCutoff)) / 2) / cutoff;
    }
    area += ((tokens[t] - x) * (y + success[t])) / 2;
    x = tokens[t];
    y = success[t];
  }
  return (area + (cutoff - x) * y) / cutoff;
}

/**
 * What each block of reasoning added to the chance of success of stopping there.
 *
 *     progress[t] = s[t] − s[t − 1],  s[−1] = the success of answering at once
 *
 * @param successAfter [turns]
 * @param initial [trajectories]
 * @returns [turns]
 */
export function progressOf(successAfter: NumericValues, initial: NumericValues, turnOffsets: Int32Array): Float64Array {
  const progress = Float64Array.from(successAfter);
  for (let i = 0; i < initial.length; i++) {
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      progress[t] -= t === turnOffsets[i] ? initial[i] : successAfter[t - 1];
    }
  }
  return progress;
}

/** How many turns do not come after the one before them: the curve needs rising tokens. */
function fallingTurns(tokens: NumericValues, turnOffsets: Int32Array): number {
  let falling = 0;
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      if (!(tokens[t] > (t === turnOffsets[i] ? 0 : tokens[t - 1]))) falling++;
    }
  }
  return falling;
}

/**
 * MRT: progress of blocks towards success; termination advantage and regret of whole trajectories.
 *
 *     turn:        A[t] = s[t] − s[t − 1]
 *     trajectory:  A[i] = R[i] − the reward of answering before it
 */
export const mrt = defineEstimator({
  id: 'mrt',
  version: 1,
  title: 'Progress of reasoning blocks (MRT)',
  citation: { paper: 'arXiv:2503.07572', code: 'CMU-AIRe/MRT:analysis/code/regret.ipynb@1815a8c' },
  status: 'second-hand',
  gives: 'advantage',
  levels: ['turn', 'trajectory'],
  groupRelative: false,
  requires: [
    'turn.successEstimate',
    'turn.cumulativeTokens',
    'trajectory.initialSuccess',
    'trajectory.terminationReward',
    'trajectory.outcomeReward',
  ],
  accepts: [],
  params: MrtParams,
  estimate({ turnOffsets }, columns, { granularity, cutoffs }) {
    const { 'turn.successEstimate': success, 'turn.cumulativeTokens': tokens } = columns;
    const progress = progressOf(success, columns['trajectory.initialSuccess'], turnOffsets);
    const termination = columns['trajectory.terminationReward'];
    const advantage = Float64Array.from(columns['trajectory.outcomeReward'], (reward, i) => reward - termination[i]);

    const area = new Float64Array(advantage.length * cutoffs.length);
    advantage.forEach((_, i) => {
      cutoffs.forEach((cutoff, c) => {
        area[i * cutoffs.length + c] = areaUnderSuccess(success, tokens, turnOffsets[i], turnOffsets[i + 1], cutoff);
      });
    });
    const offsets = Int32Array.from(turnOffsets, (_, i) => i * cutoffs.length);
    const falling = fallingTurns(tokens, turnOffsets);
    return {
      level: granularity,
      values: granularity === 'turn' ? progress : advantage,
      explain: {
        progress: { level: 'turn', values: progress },
        terminationAdvantage: { level: 'trajectory', values: advantage },
        normalizedArea: { level: 'trajectory', values: area, offsets },
        normalizedRegret: { level: 'trajectory', values: area.map((share) => 1 - share), offsets },
      },
      warnings:
        falling > 0
          ? [
              `cumulativeTokens does not rise on ${falling} ${falling === 1 ? 'turn: its' : 'turns: their'} area means nothing`,
            ]
          : [],
    };
  },
});
