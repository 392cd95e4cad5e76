import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { groupRows, mean, successOf } from '../groups.js';
import { percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/** The votes of one turn on one signal. */
interface Vote {
  readonly turn: number;
  readonly votes: number;
  /** how often each of its classes was voted for, the most frequent first */
  readonly counts: readonly number[];
  /** −Σ p ln p */
  readonly entropy: number;
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
  const names = votesByName(trajectories);
  const all = names.flatMap(({ turns }) => turns);
  const entropies = names.flatMap(({ classes, turns }) =>
    turns.map(({ entropy }) => entropy / Math.log(Math.max(2, classes))),
  );
  const drops = all.reduce((sum, { votes }) => sum + votes, 0);
  return {
    turns: new Set(all.map(({ turn }) => turn)).size,
    voteEntropy: mean(entropies),
    unanimousShare: mean(all.map(({ counts }) => Number(counts.length === 1))),
    narrowShare: mean(all.map(({ counts }) => Number(leadOf(counts) <= 1))),
    flipRate: drops > 0 ? all.reduce((sum, { counts }) => sum + flipsOf(counts), 0) / drops : null,
    ...failures(trajectories),
    contested: all
      .map(({ turn, votes, entropy }) => ({ turn, votes, entropy }))
      .filter(({ entropy }) => entropy > 0)
      .sort((a, b) => b.entropy - a.entropy)
      .slice(0, CONTESTED),
  };
}

const CONTESTED = 5;

/** How many judgements failed. */
function failures(trajectories: TrajectoryBatch) {
  const failed = numbers(trajectories, 'trajectory.judgeFailed');
  if (!failed) return { failedJudgeShare: null, failedOfSuccesses: null, failedOfFailures: null, failedByGroup: [] };
  const success = successOf(trajectories);
  const rate = (rows: readonly number[]) => mean(rows.map((row) => Number(failed[row] > 0)));
  const rows = [...trajectories.ids.keys()];
  return {
    failedJudgeShare: rate(rows),
    failedOfSuccesses: rate(rows.filter((row) => success[row] === 1)),
    failedOfFailures: rate(rows.filter((row) => success[row] === 0)),
    failedByGroup: groupRows(trajectories).map((group) => ({ group: group.name, share: rate(group.rows)! })),
  };
}

/** Per name, the turns with two votes or more, and how many different votes it ever got on them. */
function votesByName(trajectories: TrajectoryBatch): { readonly classes: number; readonly turns: readonly Vote[] }[] {
  const columns = [...trajectories.columns.keys()].filter((path) => path.startsWith('turn.') && path.includes('@'));
  const byName = Map.groupBy(columns, (path) => path.slice('turn.'.length, path.indexOf('@')));
  return [...byName.values()].flatMap((paths) => {
    const columnsOfName = paths.flatMap((path) => numbers(trajectories, path) ?? []);
    if (columnsOfName.length < 2) return [];
    const classes = new Set<number>();
    const turns: Vote[] = [];
    const votes: number[] = [];
    for (let turn = 0; turn < trajectories.stateKey.length; turn++) {
      votes.length = 0;
      for (const column of columnsOfName) if (!Number.isNaN(column[turn])) votes.push(column[turn]);
      if (votes.length < 2) continue;
      for (const vote of votes) classes.add(vote);
      const counts = countsOf(votes);
      turns.push({ turn, votes: votes.length, counts, entropy: entropyOf(counts, votes.length) });
    }
    return [{ classes: classes.size, turns }];
  });
}

/** How often each vote came, the most frequent first, of equally frequent ones the earlier. */
function countsOf(votes: readonly number[]): number[] {
  const classes: number[] = [];
  const counts: number[] = [];
  for (const vote of votes) {
    const known = classes.indexOf(vote);
    if (known >= 0) counts[known]++;
    else counts[classes.push(vote) - 1] = 1;
  }
  return counts.sort((a, b) => b - a);
}

function entropyOf(counts: readonly number[], votes: number): number {
  return counts.reduce((sum, count) => sum - (count / votes) * Math.log(count / votes), 0);
}

/** By how many votes the most frequent class is ahead. */
const leadOf = ([first, second = 0]: readonly number[]) => first - second;

/**
 * Σ over the votes, each dropped in turn: ½ where another class then leads beside the first, or a tie is broken, else 0.
 * Only a vote for a class that leads alone by one, or in a tie, can change who leads.
 */
function flipsOf(counts: readonly number[]): number {
  const [most] = counts;
  const lead = leadOf(counts);
  if (lead > 1) return 0;
  const leaders = counts.filter((count) => count === most).length;
  return (leaders * most) / 2;
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
  needs: 'two votes on a turn, or trajectory.judgeFailed',
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
