import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { allEqual, discountedSums, ownerOf } from '#lib/numeric';
import { z } from 'zod';
import { mean } from '../groups.js';
import { counted, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

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
  const { turnOffsets, groupOf, stateKey } = trajectories;
  const owner = ownerOf(turnOffsets);
  const returns = discountedSums(rewardsOf(trajectories), turnOffsets, gamma);
  const turns = [...stateKey.keys()].filter((turn) => stateKey[turn] >= 0);
  const anchors = [...Map.groupBy(turns, (turn) => `${groupOf[owner[turn]]} ${stateKey[turn]}`).values()];
  const largest = anchors.reduce((most, { length }) => Math.max(most, length), 0);
  const sizes = new Float64Array(largest + 1);
  for (const { length } of anchors) sizes[length]++;
  const turnShare = (is: (anchor: readonly number[]) => boolean) =>
    turns.length > 0 ? anchors.filter(is).reduce((sum, { length }) => sum + length, 0) / turns.length : null;
  const levels = Array.from({ length: contextLevels }, (_, k) =>
    contexts(trajectories, anchors, returns, owner, k + 1),
  );
  return {
    turnCount: turns.length,
    groupCount: anchors.length,
    sizeTable: Array.from({ length: largest }, (_, i) => [i + 1, sizes[i + 1], sizes[i + 1] / anchors.length]),
    meanGroupSize: anchors.length > 0 ? turns.length / anchors.length : null,
    singletonGroupShare: anchors.length > 0 ? (sizes[1] ?? 0) / anchors.length : null,
    singletonTurnShare: turnShare(({ length }) => length === 1),
    selfPairedTurnShare: turnShare(
      (anchor) => anchor.length > 1 && new Set(anchor.map((turn) => owner[turn])).size === 1,
    ),
    informativeTurnShare: turnShare((anchor) => anchor.length > 1 && differ(anchor.map((turn) => returns[turn]))),
    inconsistentPairShare: levels.map(({ inconsistent }) => inconsistent),
    contextSignFlipShare: levels.map(({ flips }) => flips),
    contextMeanShift: levels.map(({ shift }) => shift),
    mostVisited: anchors
      .filter(({ length }) => length > 1)
      .sort((a, b) => b.length - a.length)
      .slice(0, MOST_VISITED)
      .map((anchor) => ({ turn: anchor[0], size: anchor.length })),
  };
}

const MOST_VISITED = 5;

function rewardsOf(trajectories: TrajectoryBatch): Float64Array {
  const { turnOffsets, stateKey, ids } = trajectories;
  const said = numbers(trajectories, 'turn.reward');
  const outcome = numbers(trajectories, 'trajectory.outcomeReward');
  const rewards = Float64Array.from(stateKey, (_, turn) => (said && !Number.isNaN(said[turn]) ? said[turn] : 0));
  if (said?.some((value) => !Number.isNaN(value)) || !outcome) return rewards;
  ids.forEach((_, i) => {
    if (turnOffsets[i + 1] > turnOffsets[i] && !Number.isNaN(outcome[i])) rewards[turnOffsets[i + 1] - 1] = outcome[i];
  });
  return rewards;
}

const differ = (values: readonly number[]) => !allEqual(Math.min(...values), Math.max(...values));
const pairs = (n: number) => (n * (n - 1)) / 2;

/** One level of context inside the anchor groups. */
function contexts(
  { turnOffsets, stateKey }: TrajectoryBatch,
  anchors: readonly (readonly number[])[],
  returns: Float64Array,
  owner: Int32Array,
  level: number,
) {
  const keyOf = (turn: number) => {
    const first = turn - level + 1;
    if (first < turnOffsets[owner[turn]]) return `alone ${turn}`;
    return stateKey.subarray(first, turn + 1).join(' ');
  };
  let [all, kept] = [0, 0];
  const shifts: number[] = [];
  const flips: number[] = [];
  for (const anchor of anchors) {
    if (anchor.length < 2) continue;
    all += pairs(anchor.length);
    const ofAnchor = meanReturn(anchor, returns);
    for (const cluster of Map.groupBy(anchor, keyOf).values()) {
      kept += pairs(cluster.length);
      if (cluster.length < 2) continue;
      const ofContext = meanReturn(cluster, returns);
      for (const turn of cluster) {
        const [left, right] = [returns[turn] - ofAnchor, returns[turn] - ofContext];
        shifts.push(Math.abs(left - right));
        flips.push(left * right < 0 ? 1 : 0);
      }
    }
  }
  return { inconsistent: all > 0 ? 1 - kept / all : null, flips: mean(flips), shift: mean(shifts) };
}

const meanReturn = (turns: readonly number[], returns: Float64Array) => mean(turns.map((turn) => returns[turn]))!;

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
        const i = turnOffsets.findLastIndex((first, row) => first <= turn && row < ids.length);
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
