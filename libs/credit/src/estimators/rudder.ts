import { discountedSums, ownerOf, rowLengths } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';

const RudderParams = z.strictObject({
  errorCorrection: z
    .enum(['uniform', 'none'])
    .default('uniform')
    .describe('spread what the last prediction missed of the outcome over all turns, or leave it out'),
  gamma: z.number().min(0).max(1).default(1).describe('discount of the return per turn'),
});

/**
 * RUDDER: a turn is paid what it changed in the predicted return.
 *
 *     d[0] = p[0],  d[t] = p[t] − p[t−1]      p[t]: predicted return after turn t
 *     q[t] = d[t] + (R − p[T−1]) / T          so Σ q = R exactly; without correction q = d
 *     G[t] = q[t] + γ · G[t+1]
 */
export const rudder = defineEstimator({
  id: 'rudder',
  version: 1,
  title: 'Redistribution by return prediction (RUDDER)',
  citation: { paper: 'arXiv:1806.07857', code: 'widmi/rudder-a-practical-tutorial:tutorial.ipynb@06155b4' },
  status: 'verified',
  gives: 'reward',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.returnPrediction', 'trajectory.outcomeReward'],
  accepts: [],
  params: RudderParams,
  estimate({ turnOffsets }, columns, { errorCorrection, gamma }) {
    const { 'turn.returnPrediction': prediction, 'trajectory.outcomeReward': reward } = columns;
    const trajectoryOf = ownerOf(turnOffsets);
    const turns = rowLengths(turnOffsets);
    const difference = Float64Array.from(prediction, (value, t) =>
      t === turnOffsets[trajectoryOf[t]] ? value : value - prediction[t - 1],
    );
    const level = 'turn';
    const values = difference.map((value, t) => {
      if (errorCorrection === 'none') return value;
      const i = trajectoryOf[t];
      return value + (reward[i] - prediction[turnOffsets[i + 1] - 1]) / turns[i];
    });
    return {
      level,
      values,
      explain: {
        differenceReward: { level, values: difference },
        turnReward: { level, values },
        turnReturn: { level, values: discountedSums(values, turnOffsets, gamma) },
      },
    };
  },
});
