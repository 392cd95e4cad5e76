import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { allEqual, pairLabels, scratchDoubles, scratchInts } from '#lib/numeric';
import { z } from 'zod';
import { bestRows } from '../best-rows.js';
import { isAnySaid } from '../said.js';
import { counted, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';
import { placesOf, sharedPlaces, trajectoryOfTurns, turnsByLabel, type TurnLists } from '../visits.js';

export interface AnchorOptions {
  /** discount of the returns */
  readonly gamma: number;
  /** how many states of history are looked at, at most */
  readonly contextLevels: number;
}

/**
 * For how many turns a step-level comparison can say anything, and whether the compared turns are comparable.
 *
 *     anchor group           the turns of one state in one group
 *     selfPairedTurnShare    turns of anchor groups of two that all come from one trajectory
 *     informativeTurnShare   turns of anchor groups of two whose discounted returns G differ
 *     context of level k     the last k states that end at the turn; a turn with fewer is a context of its own
 *     inconsistentPairShare[k − 1]  1 − Σ_contexts C(m, 2) / Σ_anchor groups C(n, 2)
 *
 * over turns whose context has two members inside an anchor group of two:
 *
 *     contextMeanShift[k − 1]       mean |(G − mean of the anchor group) − (G − mean of the context)|
 *     contextSignFlipShare[k − 1]   share where these two have opposite signs
 *
 * Turns without a state take no part. Rewards: `turn.reward`, else the outcome on the last turn.
 *
 * Source: verl-agent build_step_group and summarize_group_size; contexts as HGPO; the measures are ours.
 */
export function anchorGroups(trajectories: TrajectoryBatch, options: AnchorOptions) {
  const found = anchorFigures(trajectories, options);
  const { offsets } = sharedPlaces(trajectories);
  const sizes = new Map([[1, found.groupCount - (offsets.length - 1)]]);
  for (let a = 0; a + 1 < offsets.length; a++) {
    const size = offsets[a + 1] - offsets[a];
    sizes.set(size, (sizes.get(size) ?? 0) + 1);
  }
  const { groupCount } = found;
  const largest = groupCount > 0 ? Math.max(...sizes.keys()) : 0;
  return {
    ...found,
    sizeTable: Array.from({ length: largest }, (_, i) => {
      const count = sizes.get(i + 1) ?? 0;
      return [i + 1, count, count / groupCount];
    }),
  };
}

const MOST_VISITED = 5;

/** All of it but the table of sizes. */
function anchorFigures(trajectories: TrajectoryBatch, { gamma, contextLevels }: AnchorOptions) {
  const { offsets, turns } = sharedPlaces(trajectories);
  const { count: groupCount } = placesOf(trajectories);
  const owner = trajectoryOfTurns(trajectories);
  const members = membersOf(turns, returnsOf(trajectories, gamma));
  const { returns, anchorOf, anchorMean } = members;
  const sizes = sizesOf(offsets.length - 1);
  let selfPaired = 0;
  let informative = 0;
  let pairs = 0;
  for (let a = 0; a < sizes.length; a++) {
    const from = offsets[a];
    const to = offsets[a + 1];
    const size = (sizes[a] = to - from);
    let sum = 0;
    let min = Infinity;
    let max = -Infinity;
    for (let m = from; m < to; m++) {
      const value = returns[m];
      sum += value;
      if (value < min) min = value;
      if (value > max) max = value;
    }
    const mean = sum / size;
    for (let m = from; m < to; m++) {
      anchorOf[m] = a;
      anchorMean[m] = mean;
    }
    pairs += pairsOf(size);
    if (owner[turns[from]] === owner[turns[to - 1]]) selfPaired += size;
    if (!allEqual(min, max)) informative += size;
  }
  const singletons = groupCount - sizes.length;
  const turnCount = singletons + turns.length;
  const turnShare = (count: number) => (turnCount > 0 ? count / turnCount : null);
  const levels = contexts(trajectories, members, pairs, contextLevels);
  return {
    turnCount,
    groupCount,
    meanGroupSize: groupCount > 0 ? turnCount / groupCount : null,
    singletonGroupShare: groupCount > 0 ? singletons / groupCount : null,
    singletonTurnShare: turnShare(singletons),
    selfPairedTurnShare: turnShare(selfPaired),
    informativeTurnShare: turnShare(informative),
    inconsistentPairShare: levels.map(({ inconsistent }) => inconsistent),
    contextSignFlipShare: levels.map(({ flips }) => flips),
    contextMeanShift: levels.map(({ shift }) => shift),
    mostVisited: bestRows(sizes, MOST_VISITED).map((a) => ({ turn: turns[offsets[a]], size: sizes[a] })),
  };
}

const sizesOf = scratchInts();
const returnsIn = scratchDoubles();

/** [turns] discounted, of `turn.reward` where a turn has it, else of the outcome on the last turn. */
function returnsOf(trajectories: TrajectoryBatch, gamma: number): Float64Array {
  const { turnOffsets, stateKey, ids } = trajectories;
  const said = numbers(trajectories, 'turn.reward');
  const ofTurns = said && isAnySaid(said) ? said : null;
  const outcome = ofTurns ? null : numbers(trajectories, 'trajectory.outcomeReward');
  const returns = returnsIn(stateKey.length);
  for (let row = 0; row < ids.length; row++) {
    const first = turnOffsets[row];
    const last = turnOffsets[row + 1] - 1;
    const atEnd = outcome ? orNothing(outcome[row]) : 0;
    let run = 0;
    for (let turn = last; turn >= first; turn--) {
      const reward = ofTurns ? orNothing(ofTurns[turn]) : turn === last ? atEnd : 0;
      run = reward + gamma * run;
      returns[turn] = run;
    }
  }
  return returns;
}

const orNothing = (value: number) => (Number.isNaN(value) ? 0 : value);

const pairsOf = (n: number) => (n * (n - 1)) / 2;

/** The turns of the anchor groups of two or more, group after group. [members] each */
interface Members {
  readonly turn: Int32Array;
  /** its return */
  readonly returns: Float64Array;
  /** its anchor group, and the mean return there */
  readonly anchorOf: Int32Array;
  readonly anchorMean: Float64Array;
}

const memberReturnsOf = scratchDoubles();
const anchorsOf = scratchInts();
const anchorMeansOf = scratchDoubles();

/** @param ofTurns [turns] the return of each */
function membersOf(turn: Int32Array, ofTurns: Float64Array): Members {
  const returns = memberReturnsOf(turn.length);
  for (let m = 0; m < turn.length; m++) returns[m] = ofTurns[turn[m]];
  return { turn, returns, anchorOf: anchorsOf(turn.length), anchorMean: anchorMeansOf(turn.length) };
}

/** What one level of context says; null: nothing to compare. */
interface Context {
  readonly inconsistent: number | null;
  readonly flips: number | null;
  readonly shift: number | null;
}

/**
 * Every level of context inside the anchor groups: each tells the turns of the one before apart by one more state. The
 * first is the anchor groups themselves.
 *
 * @param pairs inside the anchor groups
 */
function contexts(trajectories: TrajectoryBatch, members: Members, pairs: number, levels: number): Context[] {
  const same = pairs > 0 ? 0 : null;
  const found: Context[] = [{ inconsistent: same, flips: same, shift: same }];
  let contextOf = members.anchorOf;
  for (let k = 1; k < levels; k++) {
    const { labels, count } = toldApart(trajectories, members, contextOf, k);
    contextOf = labels;
    found.push(compared(members, labels, turnsByLabel(labels, count), pairs));
  }
  return found;
}

const leftOf = scratchInts();
const rightOf = scratchInts();

/**
 * The contexts whose turns have the same state k turns earlier too. A turn with fewer turns before it has none.
 *
 * @param contextOf [members] of the level before; -1: none
 */
function toldApart(trajectories: TrajectoryBatch, { turn }: Members, contextOf: Int32Array, k: number) {
  const { turnOffsets, stateKey } = trajectories;
  const owner = trajectoryOfTurns(trajectories);
  const left = leftOf(turn.length);
  const right = rightOf(turn.length);
  for (let m = 0; m < turn.length; m++) {
    const earlier = turn[m] - k;
    const isThere = earlier >= turnOffsets[owner[turn[m]]];
    left[m] = isThere ? contextOf[m] : -1;
    right[m] = isThere ? stateKey[earlier] + 1 : -1; // a state that was not said is one, too
  }
  return pairLabels(left, right);
}

/**
 * How far contexts of one level tear the pairs of the anchor groups apart, and what that does to their means.
 *
 * @param contextOf [members] is written to: who is alone in its context is so at every later level, and is in none from here
 * @param clusters [contexts] their members, in the order in which they begin
 * @param pairs inside the anchor groups
 */
function compared(
  { returns, anchorMean }: Members,
  contextOf: Int32Array,
  clusters: TurnLists,
  pairs: number,
): Context {
  const { offsets, turns: lists } = clusters;
  let kept = 0;
  let flips = 0;
  let shifts = 0;
  let turns = 0;
  for (let context = 0; context + 1 < offsets.length; context++) {
    const from = offsets[context];
    const to = offsets[context + 1];
    if (to - from < 2) {
      contextOf[lists[from]] = -1;
      continue;
    }
    kept += pairsOf(to - from);
    turns += to - from;
    let sum = 0;
    for (let k = from; k < to; k++) sum += returns[lists[k]];
    const ofContext = sum / (to - from);
    for (let k = from; k < to; k++) {
      const value = returns[lists[k]];
      const byAnchor = value - anchorMean[lists[k]];
      const byContext = value - ofContext;
      shifts += Math.abs(byAnchor - byContext);
      if (byAnchor * byContext < 0) flips++;
    }
  }
  return {
    inconsistent: pairs > 0 ? 1 - kept / pairs : null,
    flips: turns > 0 ? flips / turns : null,
    shift: turns > 0 ? shifts / turns : null,
  };
}

const NO_PAIR = 'no state was visited twice in a group';

export const anchorGroupsDiagnostic = stepwise({
  id: 'anchor-groups',
  version: 1,
  title: 'Turns that can be compared',
  question: 'For how many turns can a comparison of equal states say anything, and are the compared turns comparable?',
  remedy:
    'Alone: normalise states, or use an outcome estimator. Other histories: HGPO with a history of 2 to 4. Loops: penalise repeats first.',
  headline: 'informativeTurnShare',
  level: 'trainingStep',
  status: 'verified',
  source: 'langfengQ/verl-agent gigpo/core_gigpo.py; contexts: HGPO core_hgpo.py; inconsistency measures ours',
  requires: ['turn.state'],
  accepts: ['turn.reward', 'trajectory.outcomeReward'],
  metrics: [],
  params: z.strictObject({
    gamma: z.number().min(0).max(1).default(0.95).describe('discount of the returns that are compared'),
    contextLevels: z.int().min(2).max(8).default(3).describe('states of history that are looked at, at most'),
  }),
  thresholds: z.strictObject({
    alone: z.number().min(0).max(1).default(0.7).describe('share of turns alone in their anchor group: a warning'),
    inconsistent: z.number().min(0).max(1).default(0.5).describe('share of pairs with another state before: a warning'),
    flipped: z.number().min(0).max(1).default(0.1).describe('share of signs that the state before turns: a warning'),
    selfPaired: z
      .number()
      .min(0)
      .max(1)
      .default(0.2)
      .describe('share of turns compared with their own loop: a warning'),
  }),

  measure({ trajectories }, params) {
    const found = anchorFigures(trajectories, params);
    if (found.turnCount === 0) return null;
    const { ids, groups, groupOf, turnOffsets } = trajectories;
    const byLevel = (name: string, values: readonly (number | null)[]) =>
      values.slice(1).map((value, i) => [`${name}@${i + 2}`, value] as const);
    const levels = [
      ...byLevel('inconsistentPairShare', found.inconsistentPairShare),
      ...byLevel('contextSignFlipShare', found.contextSignFlipShare),
      ...byLevel('contextMeanShift', found.contextMeanShift),
    ];
    return {
      values: {
        informativeTurnShare: found.informativeTurnShare,
        singletonTurnShare: found.singletonTurnShare,
        selfPairedTurnShare: found.selfPairedTurnShare,
        singletonGroupShare: found.singletonGroupShare,
        meanGroupSize: found.meanGroupSize,
        ...Object.fromEntries(levels),
      },
      reasons: Object.fromEntries(levels.map(([name]) => [name, NO_PAIR])),
      observations: found.turnCount,
      evidence: found.mostVisited.slice(0, 2).map(({ turn, size }) => {
        const i = trajectoryOfTurns(trajectories)[turn];
        return {
          group: groups[groupOf[i]],
          trajectory: ids[i],
          turn: turn - turnOffsets[i],
          note: `its state was seen ${size} times in the group`,
          weight: size,
        };
      }),
    };
  },

  sentence({ informativeTurnShare, singletonTurnShare, meanGroupSize }) {
    return `${percent(informativeTurnShare ?? 0)} of the turns can be compared with another at the same state, ${percent(singletonTurnShare ?? 0)} are alone; a state is seen in ${counted(meanGroupSize ?? 0, 'turn')}`;
  },

  rules: ({ alone, inconsistent, flipped, selfPaired }) => [
    {
      id: 'turns-alone',
      level: 'warn',
      all: [{ value: 'singletonTurnShare', op: '>', limit: alone }],
      says: `more than ${percent(alone)} of the turns have no other at their state: a step estimator falls back to the outcome there`,
    },
    {
      id: 'other-histories',
      level: 'warn',
      all: [
        { value: 'inconsistentPairShare@2', op: '>', limit: inconsistent },
        { value: 'contextSignFlipShare@2', op: '>', limit: flipped },
      ],
      says: 'turns at equal states come from different histories, and it turns the sign of their credit',
    },
    {
      id: 'paired-with-itself',
      level: 'warn',
      all: [{ value: 'selfPairedTurnShare', op: '>', limit: selfPaired }],
      says: `more than ${percent(selfPaired)} of the turns are compared with the same trajectory only: loops make the groups`,
    },
  ],
});
