import { numbers, type NumericValues, type TrajectoryBatch } from '#lib/dataset';
import { mergeMoments, moments, NO_MOMENTS, populationStd, type Moments } from '#lib/numeric';
import { addSums, withReasons, ZERO_TOLERANCE } from './sums.js';

/** What the outcomes alone say about the groups, before any estimator. Merges by addition. */
export interface OutcomeSums {
  readonly outcome: Moments;
  readonly counts: {
    readonly trajectories: number;
    readonly turns: number;
    readonly groups: number;
    readonly singletonGroups: number;
    readonly comparableGroups: number;
    readonly comparableTrajectories: number;
    readonly zeroVarianceGroups: number;
    readonly zeroVarianceTrajectories: number;
    readonly silentTurns: number;
    readonly solveNone: number;
    readonly solveAll: number;
    readonly solvePartial: number;
    /** trajectories that say whether they succeeded, and those that did */
    readonly judged: number;
    readonly successes: number;
    /** the same inside comparable groups */
    readonly comparableJudged: number;
    readonly comparableSuccesses: number;
    /** [size] comparable groups of that many scored trajectories */
    readonly groupsBySize: Float64Array;
  };
}

export const NO_OUTCOMES: OutcomeSums = {
  outcome: NO_MOMENTS,
  counts: {
    trajectories: 0,
    turns: 0,
    groups: 0,
    singletonGroups: 0,
    comparableGroups: 0,
    comparableTrajectories: 0,
    zeroVarianceGroups: 0,
    zeroVarianceTrajectories: 0,
    silentTurns: 0,
    solveNone: 0,
    solveAll: 0,
    solvePartial: 0,
    judged: 0,
    successes: 0,
    comparableJudged: 0,
    comparableSuccesses: 0,
    groupsBySize: new Float64Array(0),
  },
};

/** What is known of each group. [groups] each */
interface GroupTallies {
  readonly trajectories: Int32Array;
  readonly turns: Int32Array;
  readonly scored: Int32Array;
  readonly least: Float64Array;
  readonly greatest: Float64Array;
  readonly judged: Int32Array;
  readonly successes: Int32Array;
}

/**
 * Counts which groups can move the policy at all.
 *
 * A group is comparable when at least two of its trajectories have an outcome, and of zero variance when
 * max R − min R ≤ 1e-8 among those. A group with one outcome is a singleton and never counts as silent; one without
 * any is neither. `solve…` needs `success` on every scored trajectory of the group.
 */
export function outcomeSums(trajectories: TrajectoryBatch): OutcomeSums {
  const rewards =
    numbers(trajectories, 'trajectory.outcomeReward') ?? new Float64Array(trajectories.ids.length).fill(NaN);
  const { trajectories: sizes, turns, scored, least, greatest, judged, successes } = talliesOf(trajectories, rewards);
  const counts = { ...NO_OUTCOMES.counts, trajectories: trajectories.ids.length, turns: trajectories.stateKey.length };
  const groupsBySize = new Float64Array(largestComparable(scored) + 1);
  for (let g = 0; g < sizes.length; g++) {
    if (sizes[g] === 0) continue;
    counts.groups++;
    counts.judged += judged[g];
    counts.successes += successes[g];
    if (scored[g] === 1) counts.singletonGroups++;
    if (scored[g] < 2) continue;
    counts.comparableGroups++;
    counts.comparableTrajectories += scored[g];
    counts.comparableJudged += judged[g];
    counts.comparableSuccesses += successes[g];
    groupsBySize[scored[g]]++;
    if (greatest[g] - least[g] <= ZERO_TOLERANCE) {
      counts.zeroVarianceGroups++;
      counts.zeroVarianceTrajectories += scored[g];
      counts.silentTurns += turns[g];
    }
    if (judged[g] !== sizes[g]) continue;
    if (successes[g] === 0) counts.solveNone++;
    else if (successes[g] === judged[g]) counts.solveAll++;
    else counts.solvePartial++;
  }
  return { outcome: moments(rewards), counts: { ...counts, groupsBySize } };
}

/** -1: no group is comparable */
function largestComparable(scored: Int32Array): number {
  let largest = -1;
  for (let g = 0; g < scored.length; g++) if (scored[g] >= 2 && scored[g] > largest) largest = scored[g];
  return largest;
}

/** [trajectories] 1 where the outcomes of its group differ: comparable, and not of zero variance */
export function mixedOutcomes(trajectories: TrajectoryBatch): Int32Array {
  const rewards = numbers(trajectories, 'trajectory.outcomeReward');
  if (!rewards) return new Int32Array(trajectories.ids.length);
  const { least, greatest } = talliesOf(trajectories, rewards);
  const { groupOf } = trajectories;
  const mixed = new Int32Array(groupOf.length);
  for (let i = 0; i < mixed.length; i++) {
    // a group without an outcome has greatest − least = −∞
    if (greatest[groupOf[i]] - least[groupOf[i]] > ZERO_TOLERANCE) mixed[i] = 1;
  }
  return mixed;
}

function talliesOf(trajectories: TrajectoryBatch, rewards: NumericValues): GroupTallies {
  const { groupCount, groupOf, turnOffsets } = trajectories;
  const success = numbers(trajectories, 'trajectory.success');
  const sizes = new Int32Array(groupCount);
  const turns = new Int32Array(groupCount);
  const scored = new Int32Array(groupCount);
  const least = new Float64Array(groupCount).fill(Infinity);
  const greatest = new Float64Array(groupCount).fill(-Infinity);
  const judged = new Int32Array(groupCount);
  const successes = new Int32Array(groupCount);
  for (let i = 0; i < groupOf.length; i++) {
    const g = groupOf[i];
    sizes[g]++;
    turns[g] += turnOffsets[i + 1] - turnOffsets[i];
    if (success && !Number.isNaN(success[i])) {
      judged[g]++;
      if (success[i] > 0) successes[g]++;
    }
    const reward = rewards[i];
    if (!Number.isFinite(reward)) continue;
    scored[g]++;
    if (reward < least[g]) least[g] = reward;
    if (reward > greatest[g]) greatest[g] = reward;
  }
  return { trajectories: sizes, turns, scored, least, greatest, judged, successes };
}

/** The sums of two disjoint sets of groups taken together. */
export function mergeOutcomes(a: OutcomeSums, b: OutcomeSums): OutcomeSums {
  return { outcome: mergeMoments(a.outcome, b.outcome), counts: addSums(a.counts, b.counts) };
}

/** How much of what was sampled can move the policy. */
export type LearningSignal = ReturnType<typeof learningSignal>;

/**
 * The diagnostic zero-variance-groups (TRL's frac_reward_zero_std, rllm's solve counts; the rest ours).
 *
 *     groupFraction f        zero-variance groups / comparable groups
 *     trajectoryFraction     their trajectories / trajectories of comparable groups
 *     silentTurnShare        their turns / all turns
 *     expectedZeroFraction   mean over comparable groups of p̄^n + (1 − p̄)^n      p̄ the pooled success
 *     difficultySpreadExcess f − expectedZeroFraction: tasks too easy or too hard, not groups too small
 *     costMultiplier         1 / (1 − f); null at f = 1
 *
 * `groupsWithSignal` = comparableGroups − zeroVarianceGroups.
 */
export function learningSignal({ outcome, counts }: OutcomeSums) {
  const { groups, singletonGroups, comparableGroups, zeroVarianceGroups, trajectories, turns } = counts;
  const { solveNone, solveAll, solvePartial } = counts;
  const groupFraction = zeroVarianceGroups / comparableGroups;
  const pooledSuccess = counts.comparableSuccesses / counts.comparableJudged;
  const byChance = counts.groupsBySize.map((count, n) => count * (pooledSuccess ** n + (1 - pooledSuccess) ** n));
  const expectedZeroFraction = byChance.reduce((sum, value) => sum + value, 0) / comparableGroups;
  const noPair = 'no group has two outcomes';
  const noSuccess = 'no trajectory of a comparable group says whether it succeeded';
  return {
    trajectories,
    turns,
    groups,
    comparableGroups,
    groupsWithSignal: comparableGroups - zeroVarianceGroups,
    singletonGroups,
    zeroVarianceGroups,
    solveNone,
    solveAll,
    solvePartial,
    ...withReasons({
      meanOutcome: [outcome.n ? outcome.mean : NaN, 'no trajectory has an outcome'],
      stdOutcome: [populationStd(outcome), 'no trajectory has an outcome'],
      successRate: [counts.successes / counts.judged, 'no trajectory says whether it succeeded'],
      groupFraction: [groupFraction, noPair],
      trajectoryFraction: [counts.zeroVarianceTrajectories / counts.comparableTrajectories, noPair],
      silentTurnShare: [counts.silentTurns / turns, 'no turns'],
      pooledSuccess: [pooledSuccess, noSuccess],
      expectedZeroFraction: [expectedZeroFraction, noSuccess],
      difficultySpreadExcess: [groupFraction - expectedZeroFraction, noSuccess],
      costMultiplier: [1 / (1 - groupFraction), comparableGroups ? 'every comparable group is silent' : noPair],
    }),
  };
}
