import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { allEqual, discountedSums, pairLabels } from '#lib/numeric';
import { z } from 'zod';
import { bestRows } from '../best-rows.js';
import { counted, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';
import { placesOf, trajectoryOfTurns, turnsByLabel, turnsOfPlaces, type TurnLists } from '../visits.js';

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
export function anchorGroups(trajectories: TrajectoryBatch, { gamma, contextLevels }: AnchorOptions) {
  const returns = discountedSums(rewardsOf(trajectories), trajectories.turnOffsets, gamma);
  const owner = trajectoryOfTurns(trajectories);
  const { offsets, turns } = turnsOfPlaces(trajectories);
  const groupCount = offsets.length - 1;
  const shared = sharedAnchors(offsets);
  const sizes = new Map([[1, groupCount - shared.length]]);
  let [selfPaired, informative, largest] = [0, 0, groupCount > 0 ? 1 : 0];
  for (const a of shared) {
    const from = offsets[a];
    const to = offsets[a + 1];
    const size = to - from;
    largest = Math.max(largest, size);
    sizes.set(size, (sizes.get(size) ?? 0) + 1);
    if (owner[turns[from]] === owner[turns[to - 1]]) selfPaired += size;
    if (differ(returns, turns, from, to)) informative += size;
  }
  const alone = groupCount - shared.length;
  const turnShare = (count: number) => (turns.length > 0 ? count / turns.length : null);
  const levels = contexts(trajectories, shared, returns, contextLevels);
  const mostVisited = bestRows(
    shared.map((a) => offsets[a + 1] - offsets[a]),
    MOST_VISITED,
  ).map((at) => shared[at]);
  return {
    turnCount: turns.length,
    groupCount,
    sizeTable: Array.from({ length: largest }, (_, i) => {
      const count = sizes.get(i + 1) ?? 0;
      return [i + 1, count, count / groupCount];
    }),
    meanGroupSize: groupCount > 0 ? turns.length / groupCount : null,
    singletonGroupShare: groupCount > 0 ? alone / groupCount : null,
    singletonTurnShare: turnShare(alone),
    selfPairedTurnShare: turnShare(selfPaired),
    informativeTurnShare: turnShare(informative),
    inconsistentPairShare: levels.map(({ inconsistent }) => inconsistent),
    contextSignFlipShare: levels.map(({ flips }) => flips),
    contextMeanShift: levels.map(({ shift }) => shift),
    mostVisited: mostVisited.map((a) => ({ turn: turns[offsets[a]], size: offsets[a + 1] - offsets[a] })),
  };
}

/** The anchor groups of two turns or more: most states are seen once, and say nothing. */
function sharedAnchors(offsets: Int32Array): Int32Array {
  const shared = new Int32Array(offsets.length - 1);
  let count = 0;
  for (let a = 0; a + 1 < offsets.length; a++) if (offsets[a + 1] - offsets[a] > 1) shared[count++] = a;
  return shared.subarray(0, count);
}

const MOST_VISITED = 5;

function rewardsOf(trajectories: TrajectoryBatch): Float64Array {
  const { turnOffsets, stateKey, ids } = trajectories;
  const said = numbers(trajectories, 'turn.reward');
  const outcome = numbers(trajectories, 'trajectory.outcomeReward');
  const rewards = new Float64Array(stateKey.length);
  let isSaid = false;
  for (let turn = 0; turn < rewards.length; turn++) {
    if (!said || Number.isNaN(said[turn])) continue;
    isSaid = true;
    rewards[turn] = said[turn];
  }
  if (isSaid || !outcome) return rewards;
  for (let i = 0; i < ids.length; i++) {
    if (turnOffsets[i + 1] > turnOffsets[i] && !Number.isNaN(outcome[i])) rewards[turnOffsets[i + 1] - 1] = outcome[i];
  }
  return rewards;
}

/** Whether the returns of turns[from .. to - 1] differ. */
function differ(returns: Float64Array, turns: Int32Array, from: number, to: number): boolean {
  let [min, max] = [Infinity, -Infinity];
  for (let k = from; k < to; k++) {
    const value = returns[turns[k]];
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return !allEqual(min, max);
}

const pairs = (n: number) => (n * (n - 1)) / 2;

/** Turns of anchor groups of two or more, group after group, each with the mean return of its group. [members] each */
interface Members {
  readonly turn: Int32Array;
  readonly ofAnchor: Float64Array;
  /** pairs inside the anchor groups */
  readonly pairs: number;
}

function membersOf({ offsets, turns }: TurnLists, shared: Int32Array, returns: Float64Array): Members {
  let count = 0;
  for (const a of shared) count += offsets[a + 1] - offsets[a];
  const [turn, ofAnchor] = [new Int32Array(count), new Float64Array(count)];
  let [next, all] = [0, 0];
  for (const a of shared) {
    const from = offsets[a];
    const to = offsets[a + 1];
    all += pairs(to - from);
    const mean = meanReturn(turns, from, to, returns);
    for (let k = from; k < to; k++) {
      turn[next] = turns[k];
      ofAnchor[next++] = mean;
    }
  }
  return { turn, ofAnchor, pairs: all };
}

/**
 * Every level of context inside the anchor groups: each tells the turns of the one before apart by one more state. The
 * first is the anchor groups themselves.
 */
function contexts(trajectories: TrajectoryBatch, shared: Int32Array, returns: Float64Array, levels: number) {
  const { placeOf } = placesOf(trajectories);
  const members = membersOf(turnsOfPlaces(trajectories), shared, returns);
  const same = members.pairs > 0 ? 0 : null;
  let contextOf: Int32Array = members.turn.map((turn) => placeOf[turn]);
  return Array.from({ length: levels }, (_, k) => {
    if (k === 0) return { inconsistent: same, flips: same, shift: same };
    const { labels, count } = toldApart(trajectories, members, contextOf, k);
    contextOf = labels;
    return compared(members, turnsByLabel(labels, count), returns);
  });
}

/**
 * The contexts whose turns have the same state k turns earlier too. A turn with fewer turns before it has none.
 *
 * @param contextOf [members] of the level before; -1: none
 */
function toldApart(trajectories: TrajectoryBatch, { turn }: Members, contextOf: Int32Array, k: number) {
  const { turnOffsets, stateKey } = trajectories;
  const owner = trajectoryOfTurns(trajectories);
  const left = new Int32Array(turn.length).fill(-1);
  const right = new Int32Array(turn.length);
  for (let m = 0; m < turn.length; m++) {
    const earlier = turn[m] - k;
    if (earlier < turnOffsets[owner[turn[m]]]) continue;
    left[m] = contextOf[m];
    right[m] = stateKey[earlier] + 1; // a state that was not said is one, too
  }
  return pairLabels(left, right);
}

/**
 * How far contexts of one level tear the pairs of the anchor groups apart, and what that does to their means.
 *
 * @param clusters [contexts] their members, in the order in which they begin
 */
function compared(members: Members, { offsets, turns: lists }: TurnLists, returns: Float64Array) {
  const { turn, ofAnchor, pairs: all } = members;
  let [kept, flips, shifts, turns] = [0, 0, 0, 0];
  for (let context = 0; context + 1 < offsets.length; context++) {
    const from = offsets[context];
    const to = offsets[context + 1];
    if (to - from < 2) continue;
    kept += pairs(to - from);
    turns += to - from;
    let sum = 0;
    for (let k = from; k < to; k++) sum += returns[turn[lists[k]]];
    const ofContext = sum / (to - from);
    for (let k = from; k < to; k++) {
      const value = returns[turn[lists[k]]];
      const byAnchor = value - ofAnchor[lists[k]];
      const byContext = value - ofContext;
      shifts += Math.abs(byAnchor - byContext);
      if (byAnchor * byContext < 0) flips++;
    }
  }
  return {
    inconsistent: all > 0 ? 1 - kept / all : null,
    flips: turns > 0 ? flips / turns : null,
    shift: turns > 0 ? shifts / turns : null,
  };
}

function meanReturn(turns: Int32Array, from: number, to: number, returns: Float64Array): number {
  let sum = 0;
  for (let k = from; k < to; k++) sum += returns[turns[k]];
  return sum / (to - from);
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
    const found = anchorGroups(trajectories, params);
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
