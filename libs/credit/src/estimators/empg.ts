import { minMaxScaled, ownerOf, rowLengths, rowMeans, segmentMoments } from '#lib/numeric';
import { z } from 'zod';

import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS } from '../group-advantage.js';
import { centred } from '../group-scores.js';
import { grpoAdvantage } from './grpo.js';

const EmpgParams = z.strictObject({
  entropyDecay: z
    .number()
    .nonnegative()
    .default(1)
    .describe('how fast the scale falls with entropy (the k of the paper)'),
  futureEntropyDecay: z
    .number()
    .nonnegative()
    .default(1)
    .describe("how fast the bonus falls with the next turn's entropy (k')"),
  bonusWeight: z.number().default(0.05).describe("weight of the bonus (zeta); the paper's listing has 0.1"),
  statsAcross: z
    .enum(['trajectories', 'turns'])
    .default('trajectories')
    .describe("'turns' counts a trajectory once per turn in its group's statistics, as ARLArena does"),
  ...GROUP_PARAMS,
});

/** The reference adds it to the range of the entropies and to the mean of the scales. */
const RANGE_EPSILON = 1e-8;

/**
 * How much a turn counts for being sure: above 1 below the usual entropy, and 1 on the mean.
 *
 *     g[t] = exp(−k · h[t]) / (mean exp(−k · h) + 1e-8)      over all turns of the batch that have an entropy
 *
 * A turn without an entropy counts 1.
 *
 * @param relativeEntropy [turns] between 0 and 1, NaN: none
 * @returns [turns]
 */
export function entropyScale(relativeEntropy: Float64Array, decay: number): Float64Array {
  const sureness = relativeEntropy.map((h) => Math.exp(-decay * h));
  const said = sureness.filter((value) => !Number.isNaN(value));
  const mean = said.reduce((sum, value) => sum + value, 0) / said.length;
  return sureness.map((value) => (Number.isNaN(value) ? 1 : value / (mean + RANGE_EPSILON)));
}

/**
 * EMPG: the group advantage of a turn, scaled by how sure the turn was, plus a bonus for leading to a clearer next turn.
 *
 *     H[t] = mean token entropy;  h = (H − min H) / (max H − min H + 1e-8)      over all turns of the batch
 *     A'[t] = A · g[t] + ζ · exp(−k' · h[t + 1])                                the last turn has no bonus
 *     A[t] = A'[t] − mean A'                                                    over all turns of the batch
 */
export const empg = defineEstimator({
  id: 'empg',
  version: 1,
  title: 'Entropy-modulated policy gradient (EMPG)',
  citation: { paper: 'arXiv:2509.09265', code: 'WillDreamer/ARLArena:recipe/shop_agent/ppo/core_algos.py@dc1da9f' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['token.entropy', 'trajectory.outcomeReward'],
  accepts: ['token.mask'],
  params: EmpgParams,
  estimate(trajectories, columns, params) {
    const { turnOffsets, tokenOffsets } = trajectories;
    const entropy = rowMeans(columns['token.entropy'], tokenOffsets, columns['token.mask'] ?? null);
    const relative = minMaxScaled(entropy, null, 1, RANGE_EPSILON);
    const scale = entropyScale(relative, params.entropyDecay);

    const turns = rowLengths(turnOffsets);
    const weight = params.statsAcross === 'turns' ? turns : turns.fill(1);
    const { advantage } = grpoAdvantage(columns['trajectory.outcomeReward'], weight, trajectories, params);
    const trajectoryOf = ownerOf(turnOffsets);
    const base = Float64Array.from(trajectoryOf, (i) => advantage[i]);
    const modulated = base.map((value, t) => {
      const hasNext = t + 1 < turnOffsets[trajectoryOf[t] + 1] && !Number.isNaN(relative[t + 1]);
      const bonus = hasNext ? params.bonusWeight * Math.exp(-params.futureEntropyDecay * relative[t + 1]) : 0;
      return value * scale[t] + bonus;
    });

    const level = 'turn';
    const batch = new Int32Array(modulated.length);
    return {
      level,
      values: centred(modulated, batch, segmentMoments(modulated, null, batch, 1), 'zero'),
      explain: {
        turnEntropy: { level, values: entropy },
        baseTurnAdvantage: { level, values: base },
        entropyScale: { level, values: scale },
      },
    };
  },
});
