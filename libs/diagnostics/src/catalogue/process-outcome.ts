import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { rowLengths, rowSums } from '#lib/numeric';
import { z } from 'zod';
import type { Measured, Values } from '../diagnostic.js';
import { groupRows, mean, successOf } from '../groups.js';
import { oncePerBatch } from '../once-per-batch.js';
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
  const rows = [...process.keys()].filter((row) => !Number.isNaN(process[row]) && !Number.isNaN(success[row]));
  const paid = (some: readonly number[]) => some.reduce((sum, row) => sum + Math.max(process[row], 0), 0);
  const conflicts = groupRows(trajectories).flatMap(({ rows: members }) => {
    const known = members.filter((row) => !Number.isNaN(process[row]));
    const right = known.filter((row) => success[row] === 1);
    const wrong = known.filter((row) => success[row] === 0);
    if (right.length === 0 || wrong.length === 0) return [];
    const [ofRight, ofWrong] = [median(right.map((row) => process[row])), median(wrong.map((row) => process[row]))];
    return [
      ...right.map((row) => Number(process[row] < ofWrong)),
      ...wrong.map((row) => Number(process[row] > ofRight)),
    ];
  });
  return {
    leakage: paid(rows) > 0 ? paid(rows.filter((row) => success[row] === 0)) / paid(rows) : null,
    conflictShare: mean(conflicts),
    meanProcess: mean(rows.map((row) => process[row])),
    meanOutcome: mean(rows.map((row) => success[row])),
    trajectories: rows.length,
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Training steps that a drift is looked for in, and below which there is none to be seen. */
const WINDOW = 30;
const LEAST = 10;
/** of the Mann-Kendall test of a rising process score */
const SURE = 0.01;

/** By step: 1 where the process score surely rises over the last steps and success does not. */
function drift(steps: readonly Measured<StepMeasure>[]): Values[] {
  const trendOf = (some: readonly Measured<StepMeasure>[], name: string) => {
    const points = some.flatMap(({ trainingStep, figures }) => {
      const score = figures.values[name];
      return score === null ? [] : [{ trainingStep, score }];
    });
    return points.length < LEAST ? null : learningPlateau(points, { window: WINDOW, alpha: SURE, minimalGain: 0.02 });
  };
  return steps.map((_, i) => {
    const last = steps.slice(Math.max(0, i + 1 - WINDOW), i + 1);
    const [process, outcome] = [trendOf(last, 'meanProcess'), trendOf(last, 'meanOutcome')];
    if (!process || !outcome) return { drift: null };
    const isRising = process.mannKendallP < SURE && process.theilSenSlope > 0;
    return { drift: Number(isRising && outcome.theilSenSlope <= 0) };
  });
}

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
