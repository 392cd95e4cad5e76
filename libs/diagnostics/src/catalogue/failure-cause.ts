import { jsonValues, numbers, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { groupRows, successOf, widthOf } from '../groups.js';
import { tokensOfTrajectories } from '../lengths.js';
import { percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';
import { loopStagnation, type TrajectoryLoops } from './loop-stagnation.js';
import { prefixSuccess } from './prefix-success.js';

/** In the order in which they are looked for: the first that holds names the cause. */
export const CAUSES = [
  'envError',
  'truncated',
  'formatError',
  'invalidActions',
  'toolFailures',
  'loop',
  'stagnation',
  'regressed',
  'gaveUpEarly',
  'neverOnTrack',
  'wrongAnswer',
  'unknown',
] as const;
export type Cause = (typeof CAUSES)[number];

export interface CauseOptions {
  /** limits of a trajectory; null: not known */
  readonly maxTurns: number | null;
  readonly maxTokens: number | null;
}

/** One failure. */
export interface FailureCause {
  readonly row: number;
  readonly cause: Cause;
  /** everything that holds, in the order of CAUSES */
  readonly flags: readonly Cause[];
}

/** Share of turns from which something is the rule and not a slip. */
const OFTEN = 0.3;
const ON_TRACK = 0.5;
const LOST = 0.2;
const NEVER = 0.1;
const LEAST_OTHERS = 3;
const LOOPS = { maxPeriod: 4, stagnationWindow: 5 };
const CUT = /length|truncat|max_?(turns|tokens|steps)|time_?out/i;
const INFRASTRUCTURE = /env|infra|crash|system/i;

/**
 * Why each failure failed.
 *
 *     envError        the flag `envError` of the trajectory or of its last turn, or a finishReason that says so
 *     truncated       turns ≥ maxTurns, tokens ≥ maxTokens, the flag `truncated`, or a finishReason that says so
 *     formatError     `formatOk` of the last turn or the trajectory is false
 *     invalidActions, toolFailures, loop    ≥ 0.3 of the turns (of the calls, of the turns in a cycle)
 *     stagnation      five turns without a new state
 *     regressed       successEstimate was ≥ 0.5 and ended ≤ 0.2, or fell from ≥ 0.5 to below
 *     gaveUpEarly     fewer turns than half of the median of the group's successes, not cut off
 *     neverOnTrack    successEstimate never ≥ 0.1, or no success among at least three others at every state it saw
 *     wrongAnswer     a finalAnswer was given
 *
 * Source: ours, after an idea of Steve-Evolving.
 */
export function failureCauses(trajectories: TrajectoryBatch, options: CauseOptions): FailureCause[] {
  const { ids } = trajectories;
  const success = successOf(trajectories);
  const tests = testsOf(trajectories, success, options);
  return [...ids.keys()]
    .filter((row) => success[row] === 0)
    .map((row) => {
      const flags = CAUSES.filter((cause) => cause !== 'unknown' && tests[cause](row));
      return { row, cause: flags[0] ?? 'unknown', flags };
    });
}

type Test = (row: number) => boolean;

function testsOf(
  trajectories: TrajectoryBatch,
  success: Float64Array,
  { maxTurns, maxTokens }: CauseOptions,
): Record<Exclude<Cause, 'unknown'>, Test> {
  const { turnOffsets } = trajectories;
  const ofTrajectory = (name: string) => numbers(trajectories, `trajectory.${name}`);
  const ofTurn = (name: string) => numbers(trajectories, `turn.${name}`);
  const texts = (name: string) => {
    const column = trajectories.columns.get(`trajectory.${name}`);
    return column ? jsonValues(column) : [];
  };
  const [envErrors, envErrorTurns] = [ofTrajectory('envError'), ofTurn('envError')];
  const [formats, formatTurns] = [ofTrajectory('formatOk'), ofTurn('formatOk')];
  const truncated = ofTrajectory('truncated');
  const [toolErrors, toolNames] = [ofTurn('toolError'), trajectories.columns.get('turn.toolName')];
  const names = toolNames ? jsonValues(toolNames) : null;
  const reasons = texts('finishReason');
  const answers = texts('finalAnswer');
  const estimate = ofTurn('successEstimate');
  const tokens = tokensOfTrajectories(trajectories);
  const loops = loopsByRow(trajectories);
  const curves = estimate ? prefixSuccess(trajectories, estimate, { lost: NEVER, won: 1 - NEVER }).perTrajectory : null;
  const medians = successLengths(trajectories, success);
  const hopeless = hopelessPaths(trajectories, success);

  const turnsOf = (row: number) => turnOffsets[row + 1] - turnOffsets[row];
  const last = (row: number) => (turnsOf(row) > 0 ? turnOffsets[row + 1] - 1 : -1);
  const finish = (row: number) => (typeof reasons[row] === 'string' ? reasons[row] : '');
  const estimates = (row: number) =>
    Array.from(estimate?.subarray(turnOffsets[row], turnOffsets[row + 1]) ?? []).filter(
      (value) => !Number.isNaN(value),
    );
  const isTruncated = (row: number) =>
    (maxTurns !== null && turnsOf(row) >= maxTurns) ||
    (maxTokens !== null && tokens[row] >= maxTokens) ||
    truncated?.[row] === 1 ||
    CUT.test(finish(row));
  return {
    envError: (row) => envErrors?.[row] === 1 || envErrorTurns?.[last(row)] === 1 || INFRASTRUCTURE.test(finish(row)),
    truncated: isTruncated,
    formatError: (row) => formats?.[row] === 0 || formatTurns?.[last(row)] === 0,
    invalidActions: (row) => (loops[row]?.invalidRate ?? 0) >= OFTEN && ofTurn('isActionValid') !== null,
    toolFailures: (row) => {
      if (!toolErrors) return false;
      let [calls, errors] = [0, 0];
      for (let turn = turnOffsets[row]; turn < turnOffsets[row + 1]; turn++) {
        if (names ? names[turn] === null || names[turn] === '' : Number.isNaN(toolErrors[turn])) continue;
        calls++;
        if (toolErrors[turn] > 0) errors++;
      }
      return calls > 0 && errors / calls >= OFTEN;
    },
    loop: (row) => (loops[row]?.loopTurnShare ?? 0) >= OFTEN,
    stagnation: (row) => trajectories.stateKey[turnOffsets[row]] >= 0 && (loops[row]?.stagnant ?? false),
    regressed: (row) => {
      const said = estimates(row);
      const hasFallen = said.length > 0 && Math.max(...said) >= ON_TRACK && said.at(-1)! <= LOST;
      return hasFallen || (curves?.[row]?.rightToWrong ?? 0) > 0;
    },
    gaveUpEarly: (row) => !isTruncated(row) && turnsOf(row) < (medians.get(trajectories.groupOf[row]) ?? 0) / 2,
    neverOnTrack: (row) => {
      const said = estimates(row);
      return said.length > 0 ? Math.max(...said) < NEVER : hopeless(row);
    },
    wrongAnswer: (row) => answers[row] !== undefined && answers[row] !== null && answers[row] !== '',
  };
}

/** [trajectories] null: it has no turn */
function loopsByRow(trajectories: TrajectoryBatch): (TrajectoryLoops | null)[] {
  const { ids, turnOffsets } = trajectories;
  const found = loopStagnation(trajectories, LOOPS).perTrajectory.values();
  return ids.map((_, row) => (turnOffsets[row + 1] > turnOffsets[row] ? found.next().value! : null));
}

/** [group] median number of turns of its successes */
function successLengths(trajectories: TrajectoryBatch, success: Float64Array): Map<number, number> {
  const { turnOffsets, groupOf } = trajectories;
  return new Map(
    groupRows(trajectories).flatMap(({ rows }) => {
      const lengths = rows
        .filter((row) => success[row] === 1)
        .map((row) => turnOffsets[row + 1] - turnOffsets[row])
        .sort((a, b) => a - b);
      if (lengths.length === 0) return [];
      const half = lengths.length >> 1;
      return [[groupOf[rows[0]], lengths.length % 2 === 1 ? lengths[half] : (lengths[half - 1] + lengths[half]) / 2]];
    }),
  );
}

/** Whether nobody succeeded through any state that a trajectory saw, and at least three others were at each. */
function hopelessPaths(trajectories: TrajectoryBatch, success: Float64Array): Test {
  const { turnOffsets, stateKey, groupOf, ids } = trajectories;
  const width = widthOf(stateKey);
  const visitors = new Map<number, { last: number; rows: number; successes: number }>();
  const placeOf = (row: number, turn: number) => groupOf[row] * width + stateKey[turn];
  for (let row = 0; row < ids.length; row++) {
    for (let turn = turnOffsets[row]; turn < turnOffsets[row + 1]; turn++) {
      const place = placeOf(row, turn);
      let known = visitors.get(place);
      if (!known) visitors.set(place, (known = { last: -1, rows: 0, successes: 0 }));
      if (known.last === row) continue; // it was here before
      known.last = row;
      known.rows++;
      if (success[row] === 1) known.successes++;
    }
  }
  return (row) => {
    if (turnOffsets[row] === turnOffsets[row + 1]) return false;
    for (let turn = turnOffsets[row]; turn < turnOffsets[row + 1]; turn++) {
      const { rows, successes } = visitors.get(placeOf(row, turn))!;
      if (stateKey[turn] < 0 || successes > 0 || rows <= LEAST_OTHERS) return false;
    }
    return true;
  };
}

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
    const failures = failureCauses(trajectories, options);
    const n = failures.length;
    const shares = CAUSES.map((cause) => {
      const found = failures.filter((failure) => failure.cause === cause).length;
      return [cause, n > 0 ? found / n : null] as const;
    });
    const ofAll = (cause: Cause) => failures.filter(({ flags }) => flags.includes(cause)).length / ids.length;
    return {
      values: {
        ...Object.fromEntries(shares),
        envErrorShare: ofAll('envError'),
        truncatedShare: ofAll('truncated'),
        failures: n,
      },
      reasons: Object.fromEntries(CAUSES.map((cause) => [cause, 'nothing failed'])),
      observations: ids.length,
      evidence: failures
        .filter(({ cause }) => cause !== 'unknown')
        .sort((a, b) => b.flags.length - a.flags.length)
        .slice(0, EVIDENCE_PER_STEP)
        .map(({ row, flags }) => ({
          group: groups[groupOf[row]],
          trajectory: ids[row],
          note: flags.join(', '),
          weight: flags.length,
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
