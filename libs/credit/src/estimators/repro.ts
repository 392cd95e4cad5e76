import type { NumericValues } from '#lib/dataset';
import { ownerOf } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { standardScores } from '../standard-scores.js';

const ReproParams = z.strictObject({
  progressWeight: z.number().default(0.5).describe('weight of the progress part (assumed)'),
  initialProgress: z.number().min(0).max(1).default(0).describe('progress before the first turn (assumed)'),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spreads (assumed)'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a group of one keeps its outcome ('raw', as verl) or gets 0 ('zero')"),
});

/**
 * What each turn added to the progress that was written after the trajectory.
 *
 *     d[t] = p[t] − p[t−1]      p before the first turn: initialProgress
 *
 * @returns [turns]
 */
export function progressGains(progress: NumericValues, turnOffsets: Int32Array, initial: number): Float64Array {
  const gains = new Float64Array(progress.length);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    let before = initial;
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      gains[t] = progress[t] - before;
      before = progress[t];
    }
  }
  return gains;
}

/**
 * RePro: the outcome against the group, and beside it what each turn added to the progress that the agent wrote down
 * afterwards, against all turns of the group.
 *
 *     A[i,t] = (R[i] − mean_g R) / (std_g R + ε) + wP · (d[i,t] − mean_g d) / (std_g d + ε)      ddof = 1
 *
 * A single turn in all of a group has no progress to be compared with: that part is 0.
 */
export const repro = defineEstimator({
  id: 'repro',
  version: 1,
  title: 'Retrospective progress (RePro)',
  citation: { paper: 'arXiv:2606.14302' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.retroProgress', 'trajectory.outcomeReward'],
  accepts: [],
  params: ReproParams,
  estimate({ turnOffsets, groupOf, groupCount }, columns, { progressWeight, initialProgress, epsilon, singleton }) {
    const reward = columns['trajectory.outcomeReward'];
    const progress = columns['turn.retroProgress'];
    const trajectoryOf = ownerOf(turnOffsets);
    const groupOfTurn = trajectoryOf.map((i) => groupOf[i]);

    const base = standardScores(reward, groupOf, groupCount, { epsilon, singleton });
    const gain = progressGains(progress, turnOffsets, initialProgress);
    const score = standardScores(gain, groupOfTurn, groupCount, { epsilon, singleton: 'zero' });
    const level = 'turn';
    return {
      level,
      values: score.map((z, t) => base[trajectoryOf[t]] + progressWeight * z),
      explain: {
        baseAdvantage: { level: 'trajectory', values: base },
        progressGain: { level, values: gain },
        reflectionQuality: { level: 'trajectory', values: reflectionQuality(progress, reward, turnOffsets) },
      },
    };
  },
});

/** [trajectories] 1 − |last progress − R|; NaN without a turn, or where R is no share of success. */
function reflectionQuality(progress: NumericValues, reward: NumericValues, turnOffsets: Int32Array): Float64Array {
  return Float64Array.from(reward, (r, i) => {
    const isShare = turnOffsets[i + 1] > turnOffsets[i] && r >= 0 && r <= 1;
    return isShare ? 1 - Math.abs(progress[turnOffsets[i + 1] - 1] - r) : NaN;
  });
}
