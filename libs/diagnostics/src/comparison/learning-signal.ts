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

interface GroupTally {
  trajectories: number;
  turns: number;
  scored: number;
  least: number;
  greatest: number;
  judged: number;
  successes: number;
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
  const groups = tallies(trajectories, rewards).filter((group) => group.trajectories > 0);
  const comparable = groups.filter((group) => group.scored >= 2);
  const silent = comparable.filter((group) => group.greatest - group.least <= ZERO_TOLERANCE);
  const judged = comparable.filter((group) => group.judged === group.trajectories);
  const largest = comparable.reduce((size, group) => Math.max(size, group.scored), -1);
  const groupsBySize = new Float64Array(largest + 1);
  for (const group of comparable) groupsBySize[group.scored]++;

  return {
    outcome: moments(rewards),
    counts: {
      trajectories: trajectories.ids.length,
      turns: trajectories.stateKey.length,
      groups: groups.length,
      singletonGroups: groups.filter((group) => group.scored === 1).length,
      comparableGroups: comparable.length,
      comparableTrajectories: total(comparable, 'scored'),
      zeroVarianceGroups: silent.length,
      zeroVarianceTrajectories: total(silent, 'scored'),
      silentTurns: total(silent, 'turns'),
      solveNone: judged.filter((group) => group.successes === 0).length,
      solveAll: judged.filter((group) => group.successes === group.judged).length,
      solvePartial: judged.filter((group) => group.successes > 0 && group.successes < group.judged).length,
      judged: total(groups, 'judged'),
      successes: total(groups, 'successes'),
      comparableJudged: total(comparable, 'judged'),
      comparableSuccesses: total(comparable, 'successes'),
      groupsBySize,
    },
  };
}

/** [trajectories] 1 where the outcomes of its group differ: comparable, and not of zero variance */
export function mixedOutcomes(trajectories: TrajectoryBatch): Int32Array {
  const rewards = numbers(trajectories, 'trajectory.outcomeReward');
  if (!rewards) return new Int32Array(trajectories.ids.length);
  const groups = tallies(trajectories, rewards);
  // a group without an outcome has greatest − least = −∞
  return trajectories.groupOf.map((g) => (groups[g].greatest - groups[g].least > ZERO_TOLERANCE ? 1 : 0));
}

function tallies(trajectories: TrajectoryBatch, rewards: NumericValues): GroupTally[] {
  const { groupCount, groupOf, turnOffsets } = trajectories;
  const success = numbers(trajectories, 'trajectory.success');
  const groups = Array.from({ length: groupCount }, () => ({
    trajectories: 0,
    turns: 0,
    scored: 0,
    least: Infinity,
    greatest: -Infinity,
    judged: 0,
    successes: 0,
  }));
  for (let i = 0; i < groupOf.length; i++) {
    const group = groups[groupOf[i]];
    group.trajectories++;
    group.turns += turnOffsets[i + 1] - turnOffsets[i];
    if (success && !Number.isNaN(success[i])) {
      group.judged++;
      group.successes += success[i] > 0 ? 1 : 0;
    }
    if (!Number.isFinite(rewards[i])) continue;
    group.scored++;
    group.least = Math.min(group.least, rewards[i]);
    group.greatest = Math.max(group.greatest, rewards[i]);
  }
  return groups;
}

function total(groups: readonly GroupTally[], field: keyof GroupTally): number {
  return groups.reduce((sum, group) => sum + group[field], 0);
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
