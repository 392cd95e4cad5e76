import { rowMeans } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';

/** The judge's highest score. */
const SCALE = 10;

const StepFilterParams = z.strictObject({
  keepAbove: z.number().default(5).describe('turns that score more than this are kept'),
  alternativeCap: z
    .number()
    .default(6)
    .describe('the most that a turn scores for which something clearly better existed'),
});

/**
 * Step filter of WebSTAR: train only on turns that a judge scores above the bar.
 *
 *     s[t]    = min(score[t], alternativeCap) where something clearly better existed, else score[t]
 *     keep[t] = [s[t] > keepAbove]
 */
export const stepFilter = defineEstimator({
  id: 'step-filter',
  version: 1,
  title: 'Turns above the bar (StepRM filtering)',
  citation: { paper: 'arXiv:2512.10962' },
  status: 'reconstructed',
  gives: 'keep',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.stepScore'],
  accepts: ['turn.betterAlternative'],
  params: StepFilterParams,
  estimate({ turnOffsets }, columns, { keepAbove, alternativeCap }) {
    const { 'turn.stepScore': stepScore, 'turn.betterAlternative': better } = columns;
    const score = Float64Array.from(stepScore, (s, t) => (better?.[t] === 1 ? Math.min(s, alternativeCap) : s));
    const share = score.map((s) => s / SCALE);
    const mean = rowMeans(share, turnOffsets);
    const centred = share.slice();
    for (let i = 0; i < mean.length; i++) {
      for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) centred[t] -= mean[i];
    }
    const level = 'turn';
    return {
      level,
      values: score.map((s) => (s > keepAbove ? 1 : 0)),
      explain: { cappedScore: { level, values: score }, centredScore: { level, values: centred } },
    };
  },
});
