import { z } from 'zod';
import { learningSignal, mergeOutcomes, outcomeSums, type OutcomeSums } from '../comparison/learning-signal.js';
import { defineDiagnostic, MAX_EVIDENCE, type Measured } from '../diagnostic.js';
import { agreeing, count, counted, percent } from '../sentences.js';

/** OutcomeSums in JSON. */
interface Figures {
  readonly outcome: OutcomeSums['outcome'];
  readonly counts: Omit<OutcomeSums['counts'], 'groupsBySize'> & { readonly groupsBySize: readonly number[] };
}

/**
 * How much of what was sampled can move the policy at all: the share of comparable groups whose outcomes are all equal.
 * The formulas stand at `learningSignal`.
 *
 * Source: TRL's frac_reward_zero_std, rllm's solve counts, DAPO (arXiv:2503.14476); the limits are ours: at 0.5 each
 * useful group costs two, at 0.8 five.
 */
export const zeroVarianceGroups = defineDiagnostic({
  id: 'zero-variance-groups',
  version: 1,
  title: 'Groups without a signal',
  question: 'How much of what was sampled can move the policy at all?',
  remedy: 'Drop tasks that are always or never solved, sample dynamically (DAPO), or enlarge the groups of hard tasks.',
  headline: 'groupFraction',
  level: 'trainingStep',
  status: 'verified',
  source: 'TRL grpo_trainer.py (frac_reward_zero_std); rllm fully_async/utils.py; DAPO, arXiv:2503.14476',
  requires: ['trajectory.outcomeReward'],
  accepts: ['trajectory.success'],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    warnFraction: z.number().min(0).max(1).default(0.5).describe('of comparable groups without a signal: a warning'),
    criticalFraction: z.number().min(0).max(1).default(0.8).describe('of comparable groups without a signal: critical'),
    tooEasyRatio: z.number().positive().default(3).describe('groups solved by all to groups solved by none'),
  }),

  measure: ({ trajectories }) => figuresOf(outcomeSums(trajectories)),

  read(steps) {
    const { reasons, ...values } = learningSignal(steps.map(sumsOf).reduce(mergeOutcomes));
    const { comparableGroups, groupsWithSignal, groupFraction } = values;
    return {
      values,
      reasons,
      sentence:
        groupFraction === null
          ? `${values.groups === 1 ? 'the one group does not have' : `none of the ${count(values.groups)} groups has`} two outcomes to compare`
          : `${count(groupsWithSignal)} of the ${counted(comparableGroups, 'comparable group')} ${agreeing(groupsWithSignal, comparableGroups, 'carries', 'carry')} a signal; in ${percent(groupFraction)} all outcomes are equal`,
      steps: steps.map((step) => {
        const { reasons: _, ...ofStep } = learningSignal(sumsOf(step));
        const tooEasy = ofStep.solveAll / Math.max(ofStep.solveNone, 1);
        return {
          trainingStep: step.trainingStep,
          values: { ...ofStep, tooEasy },
          observations: ofStep.comparableGroups,
        };
      }),
      evidence: steps
        .map(({ trainingStep, figures }) => ({ trainingStep, counts: figures.counts }))
        .filter(({ counts }) => counts.zeroVarianceGroups > 0)
        .sort((a, b) => silentShare(b.counts) - silentShare(a.counts))
        .slice(0, MAX_EVIDENCE)
        .map(({ trainingStep, counts }) => ({
          trainingStep,
          note: `${count(counts.zeroVarianceGroups)} of ${counted(counts.comparableGroups, 'group')} without a signal`,
        })),
    };
  },

  rules: ({ warnFraction, criticalFraction, tooEasyRatio }) => [
    {
      id: 'starved',
      level: 'critical',
      all: [{ value: 'groupFraction', op: '>=', limit: criticalFraction }],
      says: `at least ${percent(criticalFraction)} of the groups cannot move the policy`,
    },
    {
      id: 'wasteful',
      level: 'warn',
      all: [{ value: 'groupFraction', op: '>=', limit: warnFraction }],
      says: `at least ${percent(warnFraction)} of the groups cannot move the policy`,
    },
    {
      id: 'too-easy',
      level: 'info',
      all: [
        { value: 'tooEasy', op: '>', limit: tooEasyRatio },
        { value: 'groupFraction', op: '>=', limit: warnFraction / 2 },
      ],
      says: 'most groups without a signal are solved by every rollout: the tasks are too easy',
    },
  ],
});

function figuresOf({ outcome, counts }: OutcomeSums): Figures | null {
  if (counts.groups === 0) return null;
  return { outcome, counts: { ...counts, groupsBySize: [...counts.groupsBySize] } };
}

function sumsOf({ figures: { outcome, counts } }: Measured<Figures>): OutcomeSums {
  return { outcome, counts: { ...counts, groupsBySize: Float64Array.from(counts.groupsBySize) } };
}

const silentShare = ({ zeroVarianceGroups, comparableGroups }: Figures['counts']) =>
  zeroVarianceGroups / comparableGroups;
