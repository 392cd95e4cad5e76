import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { groupRows, mean, successOf } from '../groups.js';
import { percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/** The votes of one turn on one signal. */
interface Vote {
  readonly turn: number;
  readonly votes: readonly number[];
}

/**
 * How far votes on the same turn agree. A vote of an annotator stands under `name@annotator`, later attempts under
 * `name@annotator#attempt`; a turn with two votes of one name counts.
 *
 *     voteEntropy       mean of −Σ p ln p / ln(classes), classes: different votes that the name ever got (at least 2)
 *     narrowShare       turns whose majority is ahead by one vote or none
 *     flipRate          share of (turn, dropped vote) after which the majority is another, a tie counts half
 *     failedJudge       share of trajectories with `judgeFailed`; of successes and of failures apart
 *
 * Source: ours, after CAPO and SPARK.
 */
export function judgeVotes(trajectories: TrajectoryBatch) {
  const byName = votesByName(trajectories);
  const all = [...byName.values()].flat();
  const entropies = [...byName.values()].flatMap((votes) => {
    const classes = Math.max(2, new Set(votes.flatMap((vote) => vote.votes)).size);
    return votes.map((vote) => entropyOf(vote.votes) / Math.log(classes));
  });
  const failed = numbers(trajectories, 'trajectory.judgeFailed');
  const success = successOf(trajectories);
  const rate = (rows: readonly number[]) => mean(rows.map((row) => Number((failed?.[row] ?? 0) > 0)));
  const rows = [...trajectories.ids.keys()];
  return {
    turns: new Set(all.map(({ turn }) => turn)).size,
    voteEntropy: mean(entropies),
    unanimousShare: mean(all.map(({ votes }) => Number(new Set(votes).size === 1))),
    narrowShare: mean(all.map(({ votes }) => Number(leadOf(votes) <= 1))),
    flipRate: mean(all.flatMap(({ votes }) => votes.map((_, k) => flipsWithout(votes, k)))),
    failedJudgeShare: failed ? rate(rows) : null,
    failedOfSuccesses: failed ? rate(rows.filter((row) => success[row] === 1)) : null,
    failedOfFailures: failed ? rate(rows.filter((row) => success[row] === 0)) : null,
    failedByGroup: failed
      ? groupRows(trajectories).map((group) => ({ group: group.name, share: rate(group.rows)! }))
      : [],
    contested: all
      .map(({ turn, votes }) => ({ turn, votes: votes.length, entropy: entropyOf(votes) }))
      .filter(({ entropy }) => entropy > 0)
      .sort((a, b) => b.entropy - a.entropy)
      .slice(0, CONTESTED),
  };
}

const CONTESTED = 5;

function votesByName(trajectories: TrajectoryBatch): Map<string, Vote[]> {
  const columns = [...trajectories.columns.keys()].filter((path) => path.startsWith('turn.') && path.includes('@'));
  const byName = Map.groupBy(columns, (path) => path.slice('turn.'.length, path.indexOf('@')));
  return new Map(
    [...byName].flatMap(([name, paths]) => {
      const votes = paths.flatMap((path) => numbers(trajectories, path) ?? []);
      if (votes.length < 2) return [];
      const turns = Array.from(trajectories.stateKey, (_, turn) => ({
        turn,
        votes: votes.map((column) => column[turn]).filter((vote) => !Number.isNaN(vote)),
      }));
      return [[name, turns.filter((vote) => vote.votes.length >= 2)]];
    }),
  );
}

function tallyOf(votes: readonly number[]): number[][] {
  const counts = [...Map.groupBy(votes, (vote) => vote)].map(([vote, same]) => [vote, same.length]);
  return counts.sort((a, b) => b[1] - a[1]);
}

function entropyOf(votes: readonly number[]): number {
  return tallyOf(votes).reduce((sum, [, count]) => sum - (count / votes.length) * Math.log(count / votes.length), 0);
}

function leadOf(votes: readonly number[]): number {
  const [first, second] = tallyOf(votes);
  return first[1] - (second?.[1] ?? 0);
}

/** 1: without this vote another class leads alone, ½: another leads beside it, or a tie is broken; 0: nothing changes. */
function flipsWithout(votes: readonly number[], dropped: number): number {
  const winners = (some: readonly number[]) => {
    const tally = tallyOf(some);
    return new Set(tally.filter(([, count]) => count === tally[0][1]).map(([vote]) => vote));
  };
  const before = winners(votes);
  const after = winners(votes.filter((_, k) => k !== dropped));
  if (after.isSubsetOf(before) && before.isSubsetOf(after)) return 0;
  return before.isDisjointFrom(after) ? 1 : 0.5;
}

/** Failed judgements are uneven where successes and failures differ by this share of the greater. */
const UNEVEN = 0.5;

export const judgeVotesDiagnostic = stepwise({
  id: 'judge-votes',
  version: 1,
  title: 'Judges among themselves',
  question: 'Do the judges of a turn agree, and does their failing bias the reward?',
  remedy:
    'Ask for more votes where the majority is narrow; give failed judgements no reward instead of 0, and try them again.',
  headline: 'voteEntropy',
  level: 'trajectory',
  status: 'own',
  source: 'ours, after CAPO and SPARK',
  requires: [],
  accepts: ['trajectory.judgeFailed', 'trajectory.outcomeReward', 'trajectory.success'],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    failed: z
      .number()
      .min(0)
      .max(1)
      .default(0.05)
      .describe('share of failed judgements, uneven between successes and failures: a warning'),
  }),

  measure({ trajectories }) {
    const { failedByGroup, contested, turns, ...values } = judgeVotes(trajectories);
    if (turns === 0 && values.failedJudgeShare === null) return null;
    const { failedOfSuccesses: high, failedOfFailures: low } = values;
    const uneven = high === null || low === null ? null : Math.abs(high - low) / Math.max(high, low, 1e-12);
    const { turnOffsets, ids, groups, groupOf } = trajectories;
    const noVotes = 'no turn has two votes';
    return {
      values: { ...values, unevenness: uneven, votedTurns: turns },
      reasons: {
        voteEntropy: noVotes,
        unanimousShare: noVotes,
        narrowShare: noVotes,
        flipRate: noVotes,
        failedJudgeShare: 'trajectory.judgeFailed is nowhere said',
        failedOfSuccesses: 'needs trajectory.judgeFailed and a success',
        failedOfFailures: 'needs trajectory.judgeFailed and a failure',
        unevenness: 'needs trajectory.judgeFailed, a success and a failure',
      },
      observations: Math.max(turns, ids.length),
      evidence: [
        ...contested.slice(0, 2).map(({ turn, votes, entropy }) => {
          const row = turnOffsets.findLastIndex((first, i) => i < ids.length && first <= turn);
          return { group: groups[groupOf[row]], trajectory: ids[row], turn: turn - turnOffsets[row], note: `${votes} votes disagree`, weight: entropy }; // prettier-ignore
        }),
        ...failedByGroup
          .filter(({ share }) => share > 0)
          .sort((a, b) => b.share - a.share)
          .slice(0, 1)
          .map(({ group, share }) => ({ group, note: `${percent(share)} of its judgements failed`, weight: share })),
      ],
    };
  },

  sentence({ unanimousShare, narrowShare, failedJudgeShare }) {
    const failed = failedJudgeShare === null ? '' : `${percent(failedJudgeShare)} of the judgements failed`;
    if (unanimousShare === null) return failed || 'no turn has two votes';
    const votes = `the judges of a turn are of one mind in ${percent(unanimousShare)}, and one vote decides in ${percent(narrowShare ?? 0)}`;
    return failed ? `${votes}; ${failed}` : votes;
  },

  rules: ({ failed }) => [
    {
      id: 'judge-fails-unevenly',
      level: 'warn',
      all: [
        { value: 'failedJudgeShare', op: '>', limit: failed },
        { value: 'unevenness', op: '>', limit: UNEVEN },
      ],
      minimum: 32,
      says: `more than ${percent(failed)} of the judgements fail, and not alike for successes and failures: the reward is biased`,
    },
  ],
});
