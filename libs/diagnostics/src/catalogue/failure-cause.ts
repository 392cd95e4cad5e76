import { scratchDoubles } from '#lib/numeric';
import { z } from 'zod';
import { bestRows } from '../best-rows.js';
import { CAUSES, causesIn, flaggedFailures, type Cause } from '../failure-causes.js';
import { percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/** [causes] of how many failures each is the first that holds, `unknown` where none does, and for how many it holds */
function countsOf(flags: Int32Array) {
  const first = new Int32Array(CAUSES.length);
  const holding = new Int32Array(CAUSES.length);
  const unknown = CAUSES.length - 1;
  for (let f = 0; f < flags.length; f++) {
    // the lowest bit is the first cause
    first[flags[f] === 0 ? unknown : lowestBit(flags[f])]++;
    for (let left = flags[f]; left !== 0; left &= left - 1) holding[lowestBit(left)]++;
  }
  return { first, holding };
}

const lowestBit = (flags: number) => 31 - Math.clz32(flags & -flags);

/** The few failures for which most causes hold; of equal ones the earlier. */
function withMostCauses(flags: Int32Array): number[] {
  const counts = countsOfCauses(flags.length);
  for (let f = 0; f < flags.length; f++) {
    let count = 0;
    for (let left = flags[f]; left !== 0; left &= left - 1) count++;
    counts[f] = count > 0 ? count : NaN;
  }
  return bestRows(counts, EVIDENCE_PER_STEP);
}

const countsOfCauses = scratchDoubles();

const EVIDENCE_PER_STEP = 3;
const MINIMUM = 32;

export const failureCauseDiagnostic = stepwise({
  id: 'failure-cause',
  version: 1,
  title: 'Why rollouts fail',
  question: 'What do failures die of?',
  remedy:
    'Exclude rollouts that the environment broke, raise the limits or shape overlong ones, and log more signals where the cause is unknown.',
  headline: 'unknown',
  level: 'trajectory',
  status: 'own',
  source: 'after an idea of Steve-Evolving; the list is ours',
  requires: ['trajectory.outcomeReward'],
  accepts: [
    'trajectory.success',
    'trajectory.finishReason',
    'trajectory.truncated',
    'trajectory.envError',
    'turn.envError',
    'trajectory.formatOk',
    'turn.formatOk',
    'trajectory.finalAnswer',
    'turn.isActionValid',
    'turn.toolName',
    'turn.toolError',
    'turn.successEstimate',
    'turn.state',
    'turn.action',
    'turn.tokenCount',
  ],
  metrics: [],
  params: z.strictObject({
    maxTurns: z.int().positive().nullable().default(null).describe('limit of a trajectory; null: the flag `truncated`'),
    maxTokens: z.int().positive().nullable().default(null).describe('the same in generated tokens'),
  }),
  thresholds: z.strictObject({
    envError: z
      .number()
      .min(0)
      .max(1)
      .default(0.05)
      .describe('share of rollouts that the environment broke: a warning'),
    truncated: z.number().min(0).max(1).default(0.1).describe('share of rollouts that were cut off: a warning'),
    unknown: z.number().min(0).max(1).default(0.3).describe('share of failures without a cause: worth a note'),
  }),

  measure({ trajectories }, options) {
    const { ids, groups, groupOf } = trajectories;
    if (ids.length === 0) return null;
    const { rows, flags } = flaggedFailures(trajectories, options);
    const { first, holding } = countsOf(flags);
    const n = rows.length;
    const shares = CAUSES.map((cause, c) => [cause, n > 0 ? first[c] / n : null] as const);
    const ofAll = (cause: Cause) => holding[CAUSES.indexOf(cause)] / ids.length;
    return {
      values: {
        ...Object.fromEntries(shares),
        envErrorShare: ofAll('envError'),
        truncatedShare: ofAll('truncated'),
        failures: n,
      },
      reasons: Object.fromEntries(CAUSES.map((cause) => [cause, 'nothing failed'])),
      observations: ids.length,
      evidence: withMostCauses(flags).map((f) => ({
        group: groups[groupOf[rows[f]]],
        trajectory: ids[rows[f]],
        note: causesIn(flags[f]).join(', '),
        weight: causesIn(flags[f]).length,
      })),
    };
  },

  sentence(values) {
    const causes = CAUSES.map((cause) => ({ cause, share: values[cause] ?? 0 }))
      .filter(({ share }) => share > 0)
      .sort((a, b) => b.share - a.share)
      .slice(0, 3);
    if (causes.length === 0) return 'nothing failed';
    return `of the failures ${causes.map(({ cause, share }) => `${percent(share)} ${SAYS[cause]}`).join(', ')}`;
  },

  rules: ({ envError, truncated, unknown }) => [
    {
      id: 'environment-breaks',
      level: 'warn',
      all: [{ value: 'envErrorShare', op: '>', limit: envError }],
      minimum: MINIMUM,
      says: `the environment broke more than ${percent(envError)} of the rollouts: training learns from noise`,
    },
    {
      id: 'cut-off',
      level: 'warn',
      all: [{ value: 'truncatedShare', op: '>', limit: truncated }],
      minimum: MINIMUM,
      says: `more than ${percent(truncated)} of the rollouts failed and were cut off`,
    },
    {
      id: 'causes-unknown',
      level: 'info',
      all: [{ value: 'unknown', op: '>', limit: unknown }],
      minimum: MINIMUM,
      says: `more than ${percent(unknown)} of the failures have no cause that the signals show`,
    },
  ],
});

const SAYS: Readonly<Record<Cause, string>> = {
  envError: 'were broken by the environment',
  truncated: 'were cut off',
  formatError: 'ended in what could not be parsed',
  invalidActions: 'took actions that are not valid',
  toolFailures: 'had tools that failed',
  loop: 'ran in circles',
  stagnation: 'stood still',
  regressed: 'left the right way',
  gaveUpEarly: 'gave up early',
  neverOnTrack: 'were never on the right way',
  wrongAnswer: 'gave a wrong answer',
  unknown: 'have no known cause',
};
