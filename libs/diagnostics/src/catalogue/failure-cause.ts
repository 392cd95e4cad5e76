import { jsonValues, numbers, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { bestRows } from '../best-rows.js';
import { groupRows, successOf } from '../groups.js';
import { tokensOfTrajectories } from '../lengths.js';
import { median } from '../median.js';
import { percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';
import { turnRepeats } from '../turn-repeats.js';
import { placesOf, visitorsOf } from '../visits.js';

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
  const { rows, flags } = flaggedFailures(trajectories, options);
  return rows.map((row, k) => {
    const holding = causesIn(flags[k]);
    return { row, cause: holding[0] ?? 'unknown', flags: holding };
  });
}

/** All failures, and of each which causes hold: bit c for CAUSES[c]. */
function flaggedFailures(trajectories: TrajectoryBatch, options: CauseOptions) {
  const success = successOf(trajectories);
  const rows: number[] = [];
  for (let row = 0; row < success.length; row++) if (success[row] === 0) rows.push(row);
  const tests = testsOf(trajectories, success, rows, options);
  const flags = new Int32Array(rows.length);
  CAUSES.forEach((cause, c) => {
    if (cause === 'unknown') return;
    const holds = tests[cause];
    for (let k = 0; k < rows.length; k++) if (holds(rows[k])) flags[k] |= 1 << c;
  });
  return { rows, flags };
}

const causesIn = (flags: number): Cause[] => CAUSES.filter((_, c) => (flags & (1 << c)) !== 0);

type Test = (row: number) => boolean;
const NEVER_HOLDS: Test = () => false;

function testsOf(
  trajectories: TrajectoryBatch,
  success: Float64Array,
  failures: readonly number[],
  { maxTurns, maxTokens }: CauseOptions,
): Record<Exclude<Cause, 'unknown'>, Test> {
  const { turnOffsets, groupOf, stateKey } = trajectories;
  const ofTrajectory = (name: string) => numbers(trajectories, `trajectory.${name}`);
  const ofTurn = (name: string) => numbers(trajectories, `turn.${name}`);
  const texts = (name: string) => {
    const column = trajectories.columns.get(`trajectory.${name}`);
    return column ? jsonValues(column) : null;
  };
  const [envErrors, envErrorTurns] = [ofTrajectory('envError'), ofTurn('envError')];
  const [formats, formatTurns] = [ofTrajectory('formatOk'), ofTurn('formatOk')];
  const truncated = ofTrajectory('truncated');
  const reasons = texts('finishReason');
  const answers = texts('finalAnswer');
  const tokens = maxTokens === null ? null : tokensOfTrajectories(trajectories);
  const repeats = turnRepeats(trajectories, LOOPS.maxPeriod);
  const track = tracksOf(trajectories, failures);
  const medians = successLengths(trajectories, success);
  const hopeless = hopelessPaths(trajectories);

  const turnsOf = (row: number) => turnOffsets[row + 1] - turnOffsets[row];
  const last = (row: number) => (turnsOf(row) > 0 ? turnOffsets[row + 1] - 1 : -1);
  const saysWhy = (row: number, what: RegExp) => {
    const reason = reasons?.[row];
    return typeof reason === 'string' && what.test(reason);
  };
  const isTruncated = (row: number) =>
    (maxTurns !== null && turnsOf(row) >= maxTurns) ||
    (tokens !== null && tokens[row] >= maxTokens!) ||
    truncated?.[row] === 1 ||
    saysWhy(row, CUT);
  return {
    envError: (row) => envErrors?.[row] === 1 || envErrorTurns?.[last(row)] === 1 || saysWhy(row, INFRASTRUCTURE),
    truncated: isTruncated,
    formatError: (row) => formats?.[row] === 0 || formatTurns?.[last(row)] === 0,
    invalidActions: ofTurn('isActionValid') ? (row) => repeats.invalid[row] / turnsOf(row) >= OFTEN : NEVER_HOLDS,
    toolFailures: failingCalls(trajectories),
    loop: (row) => repeats.inCycle[row] / turnsOf(row) >= OFTEN,
    stagnation: (row) => repeats.stagnation[row] >= LOOPS.stagnationWindow && stateKey[turnOffsets[row]] >= 0,
    regressed: (row) =>
      track !== null && ((track.best[row] >= ON_TRACK && track.last[row] <= LOST) || track.fell[row] === 1),
    gaveUpEarly: (row) => turnsOf(row) < medians[groupOf[row]] / 2 && !isTruncated(row),
    neverOnTrack: (row) => (track !== null && track.best[row] > -Infinity ? track.best[row] < NEVER : hopeless(row)),
    wrongAnswer: (row) => answers !== null && answers[row] !== null && answers[row] !== '',
  };
}

/**
 * [trajectories] of the estimates of success of these: the best (-Infinity: none) and the last one, and 1 where it fell
 * from ≥ ½ to below and none is missing.
 */
function tracksOf(trajectories: TrajectoryBatch, rows: readonly number[]) {
  const estimate = numbers(trajectories, 'turn.successEstimate');
  if (!estimate) return null;
  const { ids, turnOffsets } = trajectories;
  const best = new Float64Array(ids.length).fill(-Infinity);
  const last = new Float64Array(ids.length).fill(NaN);
  const fell = new Uint8Array(ids.length);
  for (const row of rows) {
    const end = turnOffsets[row + 1];
    let isWhole = true;
    let isFalling = false;
    for (let turn = turnOffsets[row]; turn < end; turn++) {
      const value = estimate[turn];
      if (Number.isNaN(value)) {
        isWhole = false;
        continue;
      }
      if (value > best[row]) best[row] = value;
      last[row] = value;
      if (value >= ON_TRACK && turn + 1 < end && estimate[turn + 1] < ON_TRACK) isFalling = true;
    }
    if (isWhole && isFalling) fell[row] = 1;
  }
  return { best, last, fell };
}

/** Whether ≥ 0.3 of the calls failed. Where no tool is named, a turn with `toolError` is a call. */
function failingCalls(trajectories: TrajectoryBatch): Test {
  const { turnOffsets, columns } = trajectories;
  const errors = numbers(trajectories, 'turn.toolError');
  if (!errors) return NEVER_HOLDS;
  const column = columns.get('turn.toolName');
  const names = column ? jsonValues(column) : null;
  return (row) => {
    let calls = 0;
    let failures = 0;
    for (let turn = turnOffsets[row]; turn < turnOffsets[row + 1]; turn++) {
      if (names ? names[turn] === null || names[turn] === '' : Number.isNaN(errors[turn])) continue;
      calls++;
      if (errors[turn] > 0) failures++;
    }
    return calls > 0 && failures / calls >= OFTEN;
  };
}

/** [groups] median number of turns of its successes; 0: there is none */
function successLengths(trajectories: TrajectoryBatch, success: Float64Array): Float64Array {
  const { turnOffsets, groupOf, groupCount } = trajectories;
  const medians = new Float64Array(groupCount);
  for (const { rows } of groupRows(trajectories)) {
    const lengths: number[] = [];
    for (const row of rows) if (success[row] === 1) lengths.push(turnOffsets[row + 1] - turnOffsets[row]);
    if (lengths.length > 0) medians[groupOf[rows[0]]] = median(lengths);
  }
  return medians;
}

/** Whether nobody succeeded through any state that a trajectory saw, and at least three others were at each. */
function hopelessPaths(trajectories: TrajectoryBatch): Test {
  const { turnOffsets } = trajectories;
  const { placeOf } = placesOf(trajectories);
  const { all, solved } = visitorsOf(trajectories);
  return (row) => {
    for (let turn = turnOffsets[row]; turn < turnOffsets[row + 1]; turn++) {
      const place = placeOf[turn];
      if (place < 0 || solved[place] > 0 || all[place] <= LEAST_OTHERS) return false;
    }
    return turnOffsets[row] < turnOffsets[row + 1];
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
    const { rows, flags } = flaggedFailures(trajectories, options);
    const first = new Int32Array(CAUSES.length);
    const holding = new Int32Array(CAUSES.length);
    const weights = new Float64Array(rows.length).fill(NaN);
    for (let k = 0; k < rows.length; k++) {
      let count = 0;
      for (let c = 0; c < CAUSES.length; c++) {
        if ((flags[k] & (1 << c)) === 0) continue;
        if (count++ === 0) first[c]++;
        holding[c]++;
      }
      if (count === 0) first[CAUSES.indexOf('unknown')]++;
      else weights[k] = count;
    }
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
      evidence: bestRows(weights, EVIDENCE_PER_STEP).map((k) => ({
        group: groups[groupOf[rows[k]]],
        trajectory: ids[rows[k]],
        note: causesIn(flags[k]).join(', '),
        weight: weights[k],
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
