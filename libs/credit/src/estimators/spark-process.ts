import { ownerOf, rowLengths, rowSums } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { standardScores } from '../standard-scores.js';
import { Attempts, attemptsOf, shareOfYes } from '../votes.js';

const SparkProcessParams = z.strictObject({
  variant: z
    .enum(['process', 'stepAugmented', 'selective', 'global'])
    .default('process')
    .describe('the verdict alone; with the share of right turns; turns that agree with it; or turns added to it'),
  processWeight: z.number().default(0.4).describe('stepAugmented: weight of the share of right turns'),
  outcomeWeight: z.number().default(0.6).describe('stepAugmented: weight of the verdict'),
  stepAdvantageWeight: z.number().min(0).max(1).default(0.2).describe("global: share of the turns' own advantage"),
  ...GROUP_PARAMS,
});

/** Strict majority of the attempts that could be read. */
const majority = (attempts: Attempts) => Number(shareOfYes(attempts) > 0.5);

/**
 * SPARK: a verifier judges each solution several times, and the majority stands in for the truth.
 *
 *     process:       R = [format] · y                                   y, v[t]: majorities
 *     stepAugmented: R = [format] · (0.4 k / n + 0.6 y)                 k right turns of n
 *     A = (R − mean_g R) / (std_g R + ε)                                ddof = 1
 *     selective:     A[t] = A where v[t] agrees with its sign, else 0   R of process
 *     global:        A[t] = 0.8 A + 0.2 (v[t] − mean_g v) / (std_g v + ε) over all turns of the group
 */
export const sparkProcess = defineEstimator({
  id: 'spark-process',
  version: 1,
  title: 'Self-consistent process verdicts (SPARK)',
  citation: { paper: 'arXiv:2512.03244' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['trajectory', 'turn'],
  groupRelative: true,
  requires: ['trajectory.verdict', 'trajectory.formatOk'],
  accepts: [],
  conditional: (['stepAugmented', 'selective', 'global'] as const).map((variant) => ({
    when: { variant },
    requires: ['turn.stepCorrect'] as const,
  })),
  kinds: { 'trajectory.verdict': Attempts, 'turn.stepCorrect': Attempts },
  params: SparkProcessParams,
  estimate(trajectories, columns, params) {
    const { turnOffsets, groupOf, groupCount } = trajectories;
    const majorities = (path: 'trajectory.verdict' | 'turn.stepCorrect') =>
      Float64Array.from(attemptsOf(trajectories, path, columns[path]), majority);
    const verdict = majorities('trajectory.verdict');
    const ofTurns = params.variant === 'process' ? null : majorities('turn.stepCorrect');
    const turns = rowLengths(turnOffsets);
    const right = ofTurns ? rowSums(ofTurns, turnOffsets) : turns;
    const share = right.map((count, i) => (turns[i] === 0 ? 0 : count / turns[i]));
    const reward = verdict.map((y, i) => {
      if (columns['trajectory.formatOk'][i] !== 1) return 0;
      return params.variant === 'stepAugmented' ? params.processWeight * share[i] + params.outcomeWeight * y : y;
    });
    const advantage = groupAdvantage(reward, trajectories, params);
    const explain = {
      trajectoryVerdict: { level: 'trajectory', values: verdict },
      ...(ofTurns && { turnVerdict: { level: 'turn', values: ofTurns } as const }),
      trajectoryReward: { level: 'trajectory', values: reward },
    } as const;
    if (!ofTurns || params.variant === 'stepAugmented') return { level: 'trajectory', values: advantage, explain };

    const owner = ownerOf(turnOffsets);
    if (params.variant === 'selective') {
      const agrees = (a: number, v: number) => (a > 0 ? v === 1 : v === 0);
      const values = ofTurns.map((v, t) => (agrees(advantage[owner[t]], v) ? advantage[owner[t]] : 0));
      return { level: 'turn', values, explain };
    }
    const groupOfTurn = owner.map((i) => groupOf[i]);
    const { epsilon, singleton } = params;
    const step = standardScores(ofTurns, groupOfTurn, groupCount, { epsilon, singleton });
    const w = params.stepAdvantageWeight;
    return { level: 'turn', values: step.map((z, t) => (1 - w) * advantage[owner[t]] + w * z), explain };
  },
});
