import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { rowLengths, rowSums, scratchDoubles } from '#lib/numeric';
import { z } from 'zod';
import type { Measured, Values } from '../diagnostic.js';
import { groupRows, successOf } from '../groups.js';
import { medianOf } from '../median.js';
import { oncePerBatch } from '../once-per-batch.js';
import { oncePerWindow } from '../once-per-window.js';
import { processAgreement } from '../process-outcome.js';
import { figure, percent } from '../sentences.js';
import { stepwise, type StepMeasure } from '../stepwise.js';
import { learningPlateau } from './learning-plateau.js';

/** [trajectories] mean process score of the turns that have one; NaN: none */
const processOf = oncePerBatch((trajectories: TrajectoryBatch): Float64Array => {
  const { ids, turnOffsets } = trajectories;
  const scores = numbers(trajectories, 'turn.processReward');
  if (!scores) return new Float64Array(ids.length).fill(NaN);
  const sums = rowSums(scores, turnOffsets);
  for (let i = 0; i < sums.length; i++) sums[i] /= turnOffsets[i + 1] - turnOffsets[i]; // no turn: 0 / 0
  return sums;
});

/**
 * What gating on success would remove, and where process and outcome say the opposite inside a group.
 *
 *     leakage        Σ_failures max(P, 0) / Σ max(P, 0)      P: mean process score of a trajectory (P-GRPO)
 *     conflictShare  share, over groups with both, of successes with P below the median P of the failures, and of
 *                    failures with P above the median P of the successes (PROF; counts reconstructed)
 */
export function processConflicts(trajectories: TrajectoryBatch) {
  const process = processOf(trajectories);
  const success = successOf(trajectories);
  let count = 0;
  let paid = 0;
  let paidToFailures = 0;
  let processSum = 0;
  let outcomeSum = 0;
  for (let row = 0; row < process.length; row++) {
    const score = process[row];
    const outcome = success[row];
    if (Number.isNaN(score) || Number.isNaN(outcome)) continue;
    const pay = Math.max(score, 0);
    count++;
    paid += pay;
    if (outcome === 0) paidToFailures += pay;
    processSum += score;
    outcomeSum += outcome;
  }
  const { compared, conflicts } = conflictsInGroups(trajectories, process, success);
  return {
    leakage: paid > 0 ? paidToFailures / paid : null,
    conflictShare: compared > 0 ? conflicts / compared : null,
    meanProcess: count > 0 ? processSum / count : null,
    meanOutcome: count > 0 ? outcomeSum / count : null,
    trajectories: count,
  };
}

const scoresOf = scratchDoubles();

/** Of the groups with both: how many trajectories stand on the wrong side of the other outcome's median. */
function conflictsInGroups(trajectories: TrajectoryBatch, process: Float64Array, success: Float64Array) {
  const scores = scoresOf(process.length);
  let compared = 0;
  let conflicts = 0;
  for (const { rows } of groupRows(trajectories)) {
    // successes in [0, right), failures in [wrong, size)
    const size = rows.length;
    let right = 0;
    let wrong = size;
    for (let k = 0; k < size; k++) {
      const score = process[rows[k]];
      const outcome = success[rows[k]];
      if (Number.isNaN(score) || Number.isNaN(outcome)) continue;
      scores[outcome === 1 ? right++ : --wrong] = score;
    }
    if (right === 0 || wrong === size) continue;
    const medianOfRight = medianOf(scores, 0, right);
    const medianOfWrong = medianOf(scores, wrong, size);
    compared += right + size - wrong;
    for (let k = 0; k < right; k++) conflicts += Number(scores[k] < medianOfWrong);
    for (let k = wrong; k < size; k++) conflicts += Number(scores[k] > medianOfRight);
  }
  return { compared, conflicts };
}

/** Training steps that a drift is looked for in, and below which there is none to be seen. */
const WINDOW = 30;
const LEAST = 10;
/** of the Mann-Kendall test of a rising process score */
const SURE = 0.01;

/** 1: over these steps the process score surely rises and success does not; null: too few say it. */
const driftOf = oncePerWindow((steps: readonly Measured<StepMeasure>[]): number | null => {
  const trendOf = (name: string) => {
    const points = steps.flatMap(({ trainingStep, figures }) => {
      const score = figures.values[name];
      return score === null ? [] : [{ trainingStep, score }];
    });
    return points.length < LEAST ? null : learningPlateau(points, { window: WINDOW, alpha: SURE, minimalGain: 0.02 });
  };
  const [process, outcome] = [trendOf('meanProcess'), trendOf('meanOutcome')];
  if (!process || !outcome) return null;
  const isRising = process.mannKendallP < SURE && process.theilSenSlope > 0;
  return Number(isRising && outcome.theilSenSlope <= 0);
});

const drift = (steps: readonly Measured<StepMeasure>[]): Values[] =>
  steps.map((_, i) => ({ drift: driftOf(steps.slice(Math.max(0, i + 1 - WINDOW), i + 1)) }));

const NOT_MIXED = 'needs a group with a success and a failure';
const NOT_BOTH = 'needs successes and failures';

export const processOutcomeDiagnostic = stepwise({
  id: 'process-outcome',
  version: 1,
  title: 'Process score against outcome',
  question: 'Does the process score follow the outcome, or is the judge being gamed?',
  remedy:
    'Gate the process reward on success (P-GRPO), weigh it by how far it is trusted (Trust-GRPO), or train the judge again.',
  headline: 'groupAuroc',
  level: 'run',
  status: 'verified',
  source: 'see docs/estimators/trust-grpo.md and p-grpo.md; PROF conflicts reconstructed; drift test ours',
  requires: ['turn.processReward', 'trajectory.outcomeReward'],
  accepts: ['trajectory.success'],
  metrics: [],
  params: z.strictObject({
    threshold: z.number().default(0.5).describe('a process score from here on says yes'),
    bins: z.int().min(2).max(100).default(10).describe('of the calibration error'),
  }),
  thresholds: z.strictObject({
    leakage: z.number().min(0).max(1).default(0.4).describe('share of the process reward that failures get: a warning'),
  }),

  measure({ trajectories }, params) {
    const conflicts = processConflicts(trajectories);
    if (conflicts.trajectories === 0) return null;
    const found = processAgreement(
      {
        process: processOf(trajectories),
        success: successOf(trajectories),
        turns: rowLengths(trajectories.turnOffsets),
        groupOf: trajectories.groupOf,
        trainingStep: trajectories.trainingStep,
      },
      params,
    );
    const { groupAuroc, auroc, pairInversionRate, trustGamma, gap, signAgreement, selectionGain } = found;
    const { partialCorrelation, lengthCorrelation, brier, ece, falsePositiveRate, falseNegativeRate } = found;
    const { trajectories: judged, ...rest } = conflicts;
    return {
      values: {
        groupAuroc,
        auroc,
        pairInversionRate,
        trustGamma,
        gap,
        signAgreement,
        selectionGain,
        partialCorrelation,
        lengthCorrelation,
        brier,
        ece,
        falsePositiveRate,
        falseNegativeRate,
        ...rest,
      },
      reasons: {
        groupAuroc: NOT_MIXED,
        pairInversionRate: NOT_MIXED,
        signAgreement: NOT_MIXED,
        conflictShare: NOT_MIXED,
        auroc: NOT_BOTH,
        gap: NOT_BOTH,
        trustGamma: NOT_BOTH,
        falsePositiveRate: 'nothing failed',
        falseNegativeRate: 'nothing succeeded',
        partialCorrelation: 'scores, outcomes or lengths do not differ enough',
        lengthCorrelation: 'scores or lengths do not differ',
        leakage: 'no process score is above 0',
        drift: `needs ${LEAST} training steps with scores`,
      },
      observations: judged,
    };
  },

  inContext: drift,

  sentence({ groupAuroc, leakage, gap }) {
    const paid = leakage === null ? '' : `; failures get ${percent(leakage)} of the process reward`;
    if (groupAuroc === null) return `scores and outcomes cannot be compared inside a group${paid}`;
    const apart = gap === null ? '' : `, and it is ${figure(Math.abs(gap))} ${gap < 0 ? 'lower' : 'higher'} on average`;
    return `inside a group a success scores higher than a failure in ${percent(groupAuroc)} of the pairs${apart}${paid}`;
  },

  rules: ({ leakage }) => [
    {
      id: 'drift',
      level: 'critical',
      all: [{ value: 'drift', op: '>=', limit: 1 }],
      says: 'the process score rises over the last steps and success does not: the judge is being gamed',
    },
    {
      id: 'leaks-to-failures',
      level: 'warn',
      all: [{ value: 'leakage', op: '>', limit: leakage }],
      minimum: 32,
      says: `failures get more than ${percent(leakage)} of the process reward`,
    },
  ],
});
