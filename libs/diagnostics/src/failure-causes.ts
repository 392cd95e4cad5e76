import { jsonValues, numbers, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import { scratchInts } from '#lib/numeric';
import { groupRows, successOf } from './groups.js';
import { tokensOfTrajectories } from './lengths.js';
import { median } from './median.js';
import { turnRepeats } from './turn-repeats.js';
import { placesOf, visitorsOf, type Visitors } from './visits.js';

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
  return Array.from(rows, (row, f) => {
    const holding = causesIn(flags[f]);
    return { row, cause: holding[0] ?? 'unknown', flags: holding };
  });
}

/** Failures, and of each which causes hold. */
interface Failures {
  /** [failures] rows of the batch */
  readonly rows: Int32Array;
  /** [failures] bit c for CAUSES[c] */
  readonly flags: Int32Array;
}

export function flaggedFailures(trajectories: TrajectoryBatch, options: CauseOptions): Failures {
  const rows = failedRows(successOf(trajectories));
  const failures = { rows, flags: new Int32Array(rows.length) };
  flagEnvErrors(trajectories, failures);
  flagTruncated(trajectories, failures, options);
  flagFormatErrors(trajectories, failures);
  flagRepeats(trajectories, failures);
  flagToolFailures(trajectories, failures);
  flagTracks(trajectories, failures);
  flagGivenUp(trajectories, failures);
  flagAnswers(trajectories, failures);
  return failures;
}

function failedRows(success: Float64Array): Int32Array {
  let count = 0;
  const rows = rowsOf(success.length);
  for (let row = 0; row < success.length; row++) if (success[row] === 0) rows[count++] = row;
  return rows.slice(0, count);
}

const rowsOf = scratchInts();

export const causesIn = (flags: number): Cause[] => CAUSES.filter((cause) => (flags & flagOf(cause)) !== 0);

const flagOf = (cause: Cause) => 1 << CAUSES.indexOf(cause);
const ENV_ERROR = flagOf('envError');
const TRUNCATED = flagOf('truncated');
const FORMAT_ERROR = flagOf('formatError');
const INVALID_ACTIONS = flagOf('invalidActions');
const TOOL_FAILURES = flagOf('toolFailures');
const LOOP = flagOf('loop');
const STAGNATION = flagOf('stagnation');
const REGRESSED = flagOf('regressed');
const GAVE_UP_EARLY = flagOf('gaveUpEarly');
const NEVER_ON_TRACK = flagOf('neverOnTrack');
const WRONG_ANSWER = flagOf('wrongAnswer');

/** [rows] what is said in words; null: the batch has no such column */
function said(trajectories: TrajectoryBatch, path: SignalPath): readonly unknown[] | null {
  const column = trajectories.columns.get(path);
  return column ? jsonValues(column) : null;
}

/** -1: it has none */
function lastTurn({ turnOffsets }: TrajectoryBatch, row: number): number {
  return turnOffsets[row + 1] > turnOffsets[row] ? turnOffsets[row + 1] - 1 : -1;
}

/** Flags those whose `finishReason` says so. */
function flagReasons(trajectories: TrajectoryBatch, { rows, flags }: Failures, what: RegExp, flag: number): void {
  const reasons = said(trajectories, 'trajectory.finishReason');
  if (!reasons) return;
  for (let f = 0; f < rows.length; f++) {
    const reason = reasons[rows[f]];
    if (typeof reason === 'string' && what.test(reason)) flags[f] |= flag;
  }
}

function flagEnvErrors(trajectories: TrajectoryBatch, failures: Failures): void {
  const { rows, flags } = failures;
  const ofTrajectories = numbers(trajectories, 'trajectory.envError');
  const ofTurns = numbers(trajectories, 'turn.envError');
  for (let f = 0; f < rows.length; f++) {
    if (ofTrajectories?.[rows[f]] === 1 || ofTurns?.[lastTurn(trajectories, rows[f])] === 1) flags[f] |= ENV_ERROR;
  }
  flagReasons(trajectories, failures, INFRASTRUCTURE, ENV_ERROR);
}

function flagTruncated(trajectories: TrajectoryBatch, failures: Failures, { maxTurns, maxTokens }: CauseOptions): void {
  const { rows, flags } = failures;
  const { turnOffsets } = trajectories;
  const truncated = numbers(trajectories, 'trajectory.truncated');
  const tokens = maxTokens === null ? null : tokensOfTrajectories(trajectories);
  for (let f = 0; f < rows.length; f++) {
    const row = rows[f];
    const isLong = maxTurns !== null && turnOffsets[row + 1] - turnOffsets[row] >= maxTurns;
    if (isLong || (tokens !== null && tokens[row] >= maxTokens!) || truncated?.[row] === 1) flags[f] |= TRUNCATED;
  }
  flagReasons(trajectories, failures, CUT, TRUNCATED);
}

function flagFormatErrors(trajectories: TrajectoryBatch, { rows, flags }: Failures): void {
  const ofTrajectories = numbers(trajectories, 'trajectory.formatOk');
  const ofTurns = numbers(trajectories, 'turn.formatOk');
  for (let f = 0; f < rows.length; f++) {
    if (ofTrajectories?.[rows[f]] === 0 || ofTurns?.[lastTurn(trajectories, rows[f])] === 0) flags[f] |= FORMAT_ERROR;
  }
}

/** Actions that are not valid, loops and standstill. */
function flagRepeats(trajectories: TrajectoryBatch, { rows, flags }: Failures): void {
  const { turnOffsets, stateKey } = trajectories;
  const { invalid, inCycle, stagnation } = turnRepeats(trajectories, LOOPS.maxPeriod);
  const saysValid = numbers(trajectories, 'turn.isActionValid') !== null;
  for (let f = 0; f < rows.length; f++) {
    const row = rows[f];
    const turns = turnOffsets[row + 1] - turnOffsets[row];
    if (saysValid && invalid[row] / turns >= OFTEN) flags[f] |= INVALID_ACTIONS;
    if (inCycle[row] / turns >= OFTEN) flags[f] |= LOOP;
    if (stagnation[row] >= LOOPS.stagnationWindow && stateKey[turnOffsets[row]] >= 0) flags[f] |= STAGNATION;
  }
}

/** Those of which ≥ 0.3 of the calls failed. Where no tool is named, a turn with `toolError` is a call. */
function flagToolFailures(trajectories: TrajectoryBatch, { rows, flags }: Failures): void {
  const { turnOffsets } = trajectories;
  const errors = numbers(trajectories, 'turn.toolError');
  if (!errors) return;
  const names = said(trajectories, 'turn.toolName');
  for (let f = 0; f < rows.length; f++) {
    let calls = 0;
    let failed = 0;
    const end = turnOffsets[rows[f] + 1];
    for (let turn = turnOffsets[rows[f]]; turn < end; turn++) {
      if (names ? names[turn] === null || names[turn] === '' : Number.isNaN(errors[turn])) continue;
      calls++;
      if (errors[turn] > 0) failed++;
    }
    if (calls > 0 && failed / calls >= OFTEN) flags[f] |= TOOL_FAILURES;
  }
}

/** Those that left the right way, and those that were never on it. */
function flagTracks(trajectories: TrajectoryBatch, { rows, flags }: Failures): void {
  const { turnOffsets } = trajectories;
  const estimate = numbers(trajectories, 'turn.successEstimate') ?? NONE;
  const hasEstimates = estimate !== NONE;
  let paths: Paths | null = null;
  for (let f = 0; f < rows.length; f++) {
    const from = turnOffsets[rows[f]];
    const end = hasEstimates ? turnOffsets[rows[f] + 1] : from;
    let best = -Infinity;
    let last = NaN;
    let before = NaN;
    let isWhole = true;
    let isFalling = false;
    for (let turn = from; turn < end; turn++) {
      const value = estimate[turn];
      if (value < ON_TRACK && before >= ON_TRACK) isFalling = true;
      before = value;
      if (Number.isNaN(value)) {
        isWhole = false;
        continue;
      }
      if (value > best) best = value;
      last = value;
    }
    if ((best >= ON_TRACK && last <= LOST) || (isWhole && isFalling)) flags[f] |= REGRESSED;
    const isOff = best > -Infinity ? best < NEVER : isHopeless((paths ??= pathsOf(trajectories)), rows[f]);
    if (isOff) flags[f] |= NEVER_ON_TRACK;
  }
}

const NONE = new Float64Array(0);

/** What trajectories came through, and who else did. */
interface Paths {
  readonly turnOffsets: Int32Array;
  /** [turns] -1: no state was said */
  readonly placeOf: Int32Array;
  /** [places] each */
  readonly visitors: Visitors;
}

function pathsOf(trajectories: TrajectoryBatch): Paths {
  const { placeOf } = placesOf(trajectories);
  return { turnOffsets: trajectories.turnOffsets, placeOf, visitors: visitorsOf(trajectories) };
}

/** Whether nobody succeeded through any state that a trajectory saw, and at least three others were at each. */
function isHopeless({ turnOffsets, placeOf, visitors: { all, solved } }: Paths, row: number): boolean {
  for (let turn = turnOffsets[row]; turn < turnOffsets[row + 1]; turn++) {
    const place = placeOf[turn];
    if (place < 0 || solved[place] > 0 || all[place] <= LEAST_OTHERS) return false;
  }
  return turnOffsets[row] < turnOffsets[row + 1];
}

/** Those with fewer turns than half of the median of their group's successes, not cut off. */
function flagGivenUp(trajectories: TrajectoryBatch, { rows, flags }: Failures): void {
  const { turnOffsets, groupOf, groupCount } = trajectories;
  const success = successOf(trajectories);
  const longest = longestOf(groupCount).fill(0);
  for (let row = 0; row < success.length; row++) {
    if (success[row] !== 1) continue;
    longest[groupOf[row]] = Math.max(longest[groupOf[row]], turnOffsets[row + 1] - turnOffsets[row]);
  }
  let medians: Float64Array | null = null;
  for (let f = 0; f < rows.length; f++) {
    const group = groupOf[rows[f]];
    const turns = turnOffsets[rows[f] + 1] - turnOffsets[rows[f]];
    // no median is above the longest, and seldom is one asked for
    if (turns >= longest[group] / 2 || (flags[f] & TRUNCATED) !== 0) continue;
    medians ??= successLengths(trajectories);
    if (turns < medians[group] / 2) flags[f] |= GAVE_UP_EARLY;
  }
}

const longestOf = scratchInts();

/** [groups] median number of turns of its successes; 0: there is none */
function successLengths(trajectories: TrajectoryBatch): Float64Array {
  const { turnOffsets, groupOf, groupCount } = trajectories;
  const success = successOf(trajectories);
  const medians = new Float64Array(groupCount);
  for (const { rows } of groupRows(trajectories)) {
    const lengths: number[] = [];
    for (const row of rows) if (success[row] === 1) lengths.push(turnOffsets[row + 1] - turnOffsets[row]);
    if (lengths.length > 0) medians[groupOf[rows[0]]] = median(lengths);
  }
  return medians;
}

/** Those that gave an answer all the same. */
function flagAnswers(trajectories: TrajectoryBatch, { rows, flags }: Failures): void {
  const answers = said(trajectories, 'trajectory.finalAnswer');
  if (!answers) return;
  for (let f = 0; f < rows.length; f++) {
    if (answers[rows[f]] !== null && answers[rows[f]] !== '') flags[f] |= WRONG_ANSWER;
  }
}
