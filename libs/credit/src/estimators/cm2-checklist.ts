import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { pairLabels, repeatRows, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator, type Column } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { centred, scaled } from '../group-scores.js';
import { Flag } from '../signal-kinds.js';

/** As many rollouts must have reached a user turn, and one more, before they are compared on it. */
const FEWEST_HOLDERS = 4;

const Cm2ChecklistParams = z.strictObject({
  granularity: z
    .enum(['trajectory', 'userTurn', 'turn'])
    .default('trajectory')
    .describe("where credit is given: the trajectory (the final recipe), each user turn, or each turn (its 'step')"),
  minGroup: z.int().nonnegative().default(4).describe('turn: an item that no more rollouts could try earns nothing'),
  divideByWeight: z
    .boolean()
    .default(false)
    .describe("turn: divide by the weight of the open items, as the paper's equation does"),
  eta: z.literal(1).default(1).describe('turn: the reference is consistent for 1 only'),
  ...GROUP_PARAMS,
  normalizeByStd: z.boolean().default(false).describe('divide by the spread, except where credit is per turn'),
});
type Params = z.infer<typeof Cm2ChecklistParams>;

const Item = z.object({ id: z.string(), weight: z.number(), dependence: z.array(z.string()).default([]) });
type Item = z.infer<typeof Item>;

/** What one rollout did in one user turn. */
interface UserTurn {
  readonly trajectory: number;
  readonly userTurn: number;
  readonly items: readonly Item[];
  /** its turns, in order, and what the judge saw satisfied after each */
  readonly turns: readonly number[];
  readonly satisfied: readonly (readonly number[])[];
}

/** The user turns that each rollout reached, in order; those of a failed judgement are left out. */
function userTurns(
  { turnOffsets }: TrajectoryBatch,
  checklist: readonly (readonly (readonly Item[])[] | null)[],
  userTurn: NumericValues,
  satisfied: readonly (readonly number[] | null)[],
  hasFailed: (trajectory: number) => boolean,
): UserTurn[] {
  return checklist.flatMap((items, i) => {
    if (hasFailed(i)) return [];
    const reached = new Map<number, number[]>();
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      const turns = reached.get(userTurn[t]) ?? [];
      reached.set(userTurn[t], turns);
      turns.push(t);
    }
    return [...reached]
      .toSorted(([a], [b]) => a - b)
      .map(([u, turns]) => {
        return {
          trajectory: i,
          userTurn: u,
          items: items![u] ?? [],
          turns,
          satisfied: turns.map((t) => satisfied[t]!),
        };
      });
  });
}

/** Weight of the items that any of its turns satisfied; what they depend on is not asked. */
function userTurnReward({ items, satisfied }: UserTurn): number {
  return items.reduce((sum, { weight }, k) => sum + (satisfied.some((flags) => flags[k] === 1) ? weight : 0), 0);
}

/** For each item, at which turn it got done (Infinity: never), and whether it could be tried at all. */
interface Fate {
  readonly doneAt: readonly number[];
  readonly wasOpen: readonly boolean[];
  /** [items][] indices of what must be done before; -1: no such item */
  readonly needs: readonly (readonly number[])[];
}

/** Items are visited in list order, so one that is done makes a later one of the list open at the same turn. */
function fateOf({ items, satisfied }: UserTurn): Fate {
  const needs = items.map(({ dependence }) => dependence.map((id) => items.findIndex((item) => item.id === id)));
  const doneAt = items.map(() => Infinity);
  const wasOpen = items.map(() => false);
  satisfied.forEach((flags, s) => {
    items.forEach((_, k) => {
      if (doneAt[k] < s || !needs[k].every((d) => doneAt[d] <= s)) return;
      wasOpen[k] = true;
      if (flags[k] === 1) doneAt[k] = s;
    });
  });
  return { doneAt, wasOpen, needs };
}

/** Mean outcome of an item over the rollouts of a group that could try it. */
interface ItemMean {
  count: number;
  done: number;
}

/**
 * Credit per turn: every turn while an item is open gets the item's final fate, against the group's.
 *
 *     A[s] = Σ_k w_k (y_k − m_k) over the items open before s      y: 1 done, 0 open and never done; m: mean of y
 *
 * @returns [turns]
 */
function turnCredits({ groupOf, stateKey }: TrajectoryBatch, visits: readonly UserTurn[], params: Params) {
  const fates = visits.map(fateOf);
  const means = new Map<string, ItemMean>();
  const meanOf = ({ trajectory, userTurn }: UserTurn, k: number) => {
    const key = `${groupOf[trajectory]}/${userTurn}/${k}`;
    const mean = means.get(key) ?? { count: 0, done: 0 };
    means.set(key, mean);
    return mean;
  };
  visits.forEach((visit, v) => {
    fates[v].wasOpen.forEach((open, k) => {
      if (!open) return;
      const mean = meanOf(visit, k);
      mean.count++;
      if (fates[v].doneAt[k] < Infinity) mean.done++;
    });
  });

  const credit = new Float64Array(stateKey.length);
  visits.forEach((visit, v) => {
    const { doneAt, needs } = fates[v];
    visit.turns.forEach((t, s) => {
      let openWeight = 0;
      visit.items.forEach(({ weight }, k) => {
        if (doneAt[k] < s || !needs[k].every((d) => doneAt[d] < s)) return;
        openWeight += weight;
        const { count, done } = meanOf(visit, k);
        if (count > params.minGroup) credit[t] += weight * ((doneAt[k] < Infinity ? 1 : 0) - done / count);
      });
      if (params.divideByWeight && openWeight !== 0) credit[t] /= openWeight;
    });
  });
  return credit;
}

/**
 * Credit per user turn, over the rollouts of the group that reached it: none where four or fewer did.
 *
 * @param reward [visits]
 * @returns [turns]
 */
function userTurnCredits(
  { groupOf, stateKey }: TrajectoryBatch,
  visits: readonly UserTurn[],
  reward: Float64Array,
  { normalizeByStd, epsilon }: Params,
): Float64Array {
  const holders = pairLabels(
    Int32Array.from(visits, ({ trajectory }) => groupOf[trajectory]),
    Int32Array.from(visits, ({ userTurn }) => userTurn),
  );
  const moments = segmentMoments(reward, null, holders.labels, holders.count);
  const centre = centred(reward, holders.labels, moments, 'zero');
  const value = normalizeByStd ? scaled(centre, holders.labels, moments, epsilon) : centre;
  const credit = new Float64Array(stateKey.length);
  visits.forEach(({ turns }, v) => {
    if (moments.weight[holders.labels[v]] <= FEWEST_HOLDERS) return;
    for (const t of turns) credit[t] = value[v];
  });
  return credit;
}

/** [trajectories] a list each: the reward of every user turn it reached. */
function rewardLists(count: number, visits: readonly UserTurn[], reward: Float64Array): Column {
  const offsets = new Int32Array(count + 1);
  for (const { trajectory } of visits) offsets[trajectory + 1]++;
  for (let i = 0; i < count; i++) offsets[i + 1] += offsets[i];
  return { level: 'trajectory', values: reward, offsets };
}

/** What is not said of an item counts as not satisfied. */
function unsaidItems(visits: readonly UserTurn[]): string[] {
  const lists = visits.flatMap(({ items, satisfied }) => satisfied.map((flags) => flags.length !== items.length));
  const wrong = lists.filter(Boolean).length;
  if (wrong === 0) return [];
  return [
    `satisfied does not match the checklist on ${wrong} of ${lists.length} ${lists.length === 1 ? 'turn' : 'turns'}: an item it lacks is not satisfied`,
  ];
}

/**
 * CM2: a checklist of weighted yes/no items per user turn. An item is hit where any turn of its user turn satisfies it.
 *
 *     R_u[i] = Σ_k w_k · [hit_k]        R[i] = Σ_u R_u[i] / number of user turns; one that was not reached is 0
 *     trajectory: A[i]   = R[i] − mean_g R                    a failed judgement: R = 0, and it stays in the group
 *     userTurn:   A[i,u] = R_u[i] − mean over the holders     (userTurnCredits)
 *     turn:       A[i,s]                                      (turnCredits)
 */
export const cm2Checklist = defineEstimator({
  id: 'cm2-checklist',
  version: 1,
  title: 'Checklist rewards (CM2)',
  citation: {
    code: 'namezhenzhang/CM2-RLCR-Tool-Agent:verl_v0.6.1_checklist/verl/workers/reward_manager/checklist.py@2758991',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['trajectory.checklist', 'turn.userTurn', 'turn.satisfied'],
  accepts: ['trajectory.judgeFailed'],
  kinds: { 'trajectory.checklist': z.array(z.array(Item)), 'turn.satisfied': z.array(Flag) },
  params: Cm2ChecklistParams,
  estimate(trajectories, columns, params) {
    const { 'trajectory.checklist': checklist, 'trajectory.judgeFailed': judgeFailed } = columns;
    const hasFailed = (i: number) => judgeFailed?.[i] === 1;
    const visits = userTurns(trajectories, checklist, columns['turn.userTurn'], columns['turn.satisfied'], hasFailed);
    const visitReward = Float64Array.from(visits, userTurnReward);
    const sum = new Float64Array(checklist.length);
    visits.forEach(({ trajectory }, v) => (sum[trajectory] += visitReward[v]));
    const reward = sum.map((total, i) => (checklist[i]!.length === 0 ? 0 : total / checklist[i]!.length));

    const level = 'turn';
    const credits = {
      trajectory: () => repeatRows(groupAdvantage(reward, trajectories, params), trajectories.turnOffsets),
      userTurn: () => userTurnCredits(trajectories, visits, visitReward, params),
      turn: () => turnCredits(trajectories, visits, params),
    };
    return {
      level,
      values: credits[params.granularity](),
      explain: {
        trajectoryReward: { level: 'trajectory', values: reward },
        userTurnReward: rewardLists(reward.length, visits, visitReward),
      },
      warnings: unsaidItems(visits),
    };
  },
});
