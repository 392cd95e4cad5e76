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
  const anchors = turnsOfPlaces(trajectories);
  const { offsets, turns } = anchors;
  const groupCount = offsets.length - 1;
  const size = new Float64Array(groupCount);
  for (let a = 0; a < groupCount; a++) size[a] = offsets[a + 1] - offsets[a];
  const largest = size.reduce((most, n) => Math.max(most, n), 0);
  const sizes = new Float64Array(largest + 1);
  let [selfPaired, informative] = [0, 0];
  for (let a = 0; a < groupCount; a++) {
    sizes[size[a]]++;
    if (size[a] < 2) continue;
    const [first, last] = [offsets[a], offsets[a + 1] - 1];
    if (owner[turns[first]] === owner[turns[last]]) selfPaired += size[a];
    if (differ(returns, turns, first, last + 1)) informative += size[a];
  }
  const turnShare = (count: number) => (turns.length > 0 ? count / turns.length : null);
  const levels = contexts(trajectories, anchors, returns, contextLevels);
  return {
    turnCount: turns.length,
    groupCount,
    sizeTable: Array.from({ length: largest }, (_, i) => [i + 1, sizes[i + 1], sizes[i + 1] / groupCount]),
    meanGroupSize: groupCount > 0 ? turns.length / groupCount : null,
    singletonGroupShare: groupCount > 0 ? (sizes[1] ?? 0) / groupCount : null,
    singletonTurnShare: turnShare(sizes[1] ?? 0),
    selfPairedTurnShare: turnShare(selfPaired),
    informativeTurnShare: turnShare(informative),
    inconsistentPairShare: levels.map(({ inconsistent }) => inconsistent),
    contextSignFlipShare: levels.map(({ flips }) => flips),
    contextMeanShift: levels.map(({ shift }) => shift),
    mostVisited: bestRows(
      size.map((n) => (n > 1 ? n : NaN)),
      MOST_VISITED,
    ).map((a) => ({ turn: turns[offsets[a]], size: size[a] })),
  };
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

/** Every level of context inside the anchor groups: each tells the turns of the one before apart by one more state. */
function contexts(trajectories: TrajectoryBatch, anchors: TurnLists, returns: Float64Array, levels: number) {
  let contextOf = placesOf(trajectories).placeOf;
  let clusters = anchors;
  return Array.from({ length: levels }, (_, k) => {
    if (k > 0) {
      const { labels, count } = toldApart(trajectories, contextOf, clusters, k);
      contextOf = labels;
      clusters = turnsByLabel(labels, count);
    }
    return compared(anchors, contextOf, clusters, returns);
  });
}

/** The contexts whose turns have the same state k turns earlier too. A turn that is alone in its context has none. */
function toldApart({ turnOffsets, stateKey }: TrajectoryBatch, contextOf: Int32Array, clusters: TurnLists, k: number) {
  const { offsets } = clusters;
  const left = new Int32Array(stateKey.length).fill(-1);
  const right = new Int32Array(stateKey.length);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    for (let turn = turnOffsets[i] + k; turn < turnOffsets[i + 1]; turn++) {
      const context = contextOf[turn];
      if (context < 0 || offsets[context + 1] - offsets[context] < 2) continue;
      left[turn] = context;
      right[turn] = stateKey[turn - k] + 1; // a state that was not said is one, too
    }
  }
  return pairLabels(left, right);
}

/** How far contexts of one level tear the pairs of the anchor groups apart, and what that does to their means. */
function compared(anchors: TurnLists, contextOf: Int32Array, clusters: TurnLists, returns: Float64Array) {
  let all = 0;
  let kept = 0;
  let flips = 0;
  let shifts = 0;
  let turns = 0;
  for (let a = 0; a + 1 < anchors.offsets.length; a++) {
    const from = anchors.offsets[a];
    const to = anchors.offsets[a + 1];
    if (to - from < 2) continue;
    all += pairs(to - from);
    const ofAnchor = meanReturn(anchors.turns, from, to, returns);
    for (let k = from; k < to; k++) {
      const context = contextOf[anchors.turns[k]];
      if (context < 0) continue;
      const first = clusters.offsets[context];
      const end = clusters.offsets[context + 1];
      // each context once, in the order in which they begin
      if (clusters.turns[first] !== anchors.turns[k] || end - first < 2) continue;
      kept += pairs(end - first);
      turns += end - first;
      const ofContext = meanReturn(clusters.turns, first, end, returns);
      for (let c = first; c < end; c++) {
        const value = returns[clusters.turns[c]];
        const byAnchor = value - ofAnchor;
        const byContext = value - ofContext;
        shifts += Math.abs(byAnchor - byContext);
        if (byAnchor * byContext < 0) flips++;
      }
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
