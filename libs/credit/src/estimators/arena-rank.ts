import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { groupAdvantage } from '../group-advantage.js';
import { groupMembers } from '../group-members.js';
import { silenced } from '../silenced.js';
import {
  anchorRanking,
  doubleEliminationRanking,
  roundRobinRanking,
  singleEliminationRanking,
  swissRanking,
  type Duel,
  type Ranking,
} from '../tournaments.js';

const ArenaRankParams = z.strictObject({
  topology: z
    .enum(['singleElimination', 'roundRobin', 'anchor', 'swiss', 'doubleElimination'])
    .default('singleElimination')
    .describe('which pairs are compared, and how that makes a ranking'),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spread of the rank rewards'),
  maxNumRounds: z.int().positive().nullable().default(null).describe('swiss: rounds; null: log2 of the players'),
  shuffle: z
    .literal(false)
    .default(false)
    .describe('the reference shuffles swiss and double elimination; a replay has to be the same each time'),
  fallback: z
    .enum(['none', 'judgeScore'])
    .default('none')
    .describe('a pair that was not judged leaves its group without credit, or is compared by judgeScore'),
});
type Params = z.infer<typeof ArenaRankParams>;

const Comparisons = z.array(z.object({ a: z.string(), b: z.string(), scoreA: z.number(), scoreB: z.number() }));

/** Thrown inside a tournament, caught around it: a duel that nobody judged. */
class NotJudged extends Error {}

/** [trajectories] what each got in duels with others, by their row; a pair judged more than once counts its mean. */
function judgedScores(ids: readonly string[], comparisons: readonly (z.infer<typeof Comparisons> | null)[]) {
  const rowOf = new Map(ids.map((id, row) => [id, row]));
  const sums = ids.map(() => new Map<number, { sum: number; count: number }>());
  const add = (own: number, other: number, score: number) => {
    const { sum, count } = sums[own].get(other) ?? { sum: 0, count: 0 };
    sums[own].set(other, { sum: sum + score, count: count + 1 });
  };
  for (const { a, b, scoreA, scoreB } of comparisons.flatMap((each) => each ?? [])) {
    const [i, j] = [rowOf.get(a), rowOf.get(b)];
    if (i === undefined || j === undefined || i === j) continue;
    add(i, j, scoreA);
    add(j, i, scoreB);
  }
  return (i: number, j: number) => {
    const judged = sums[i].get(j);
    return judged && judged.sum / judged.count;
  };
}

function ranking(n: number, duel: Duel, { topology, maxNumRounds }: Params): Ranking {
  if (n < 2) return { rewards: new Array<number>(n).fill(0), calls: 0 };
  switch (topology) {
    case 'singleElimination':
      return singleEliminationRanking(n, duel);
    case 'roundRobin':
      return roundRobinRanking(n, duel);
    case 'anchor':
      return anchorRanking(n, duel);
    case 'swiss':
      return swissRanking(n, duel, maxNumRounds);
    case 'doubleElimination':
      return doubleEliminationRanking(n, duel);
  }
}

/** Replays the tournament of each group. NaN in a group that needs a pair which was not judged. */
function replay(
  trajectories: TrajectoryBatch,
  comparisons: readonly (z.infer<typeof Comparisons> | null)[],
  judgeScore: NumericValues | undefined,
  params: Params,
) {
  const rewards = new Float64Array(trajectories.ids.length).fill(NaN);
  const calls = new Float64Array(trajectories.groupCount).fill(NaN);
  const scoreOf = judgedScores(trajectories.ids, comparisons);
  groupMembers(trajectories).forEach((group, g) => {
    const duel: Duel = (i, j) => {
      const [a, b] = [scoreOf(group[i], group[j]), scoreOf(group[j], group[i])];
      if (a !== undefined && b !== undefined) return [a, b];
      if (params.fallback === 'judgeScore') return [judgeScore![group[i]], judgeScore![group[j]]];
      throw new NotJudged();
    };
    try {
      const ranked = ranking(group.length, duel, params);
      group.forEach((row, k) => (rewards[row] = ranked.rewards[k]));
      calls[g] = ranked.calls;
    } catch (error) {
      if (!(error instanceof NotJudged)) throw error;
    }
  });
  return { rewards, calls };
}

/**
 * ArenaRL: the trajectories of a group meet in a tournament of judged pairs, and their places are their rewards.
 *
 *     r[i] in 0 .. 1 by the tournament (see tournaments.ts)
 *     A[i] = (r[i] − mean_g r) / (std_g r + ε)      ddof = 1; 0 for a group of one
 *
 * The order of the trajectories matters: the first of a group is the anchor, and ties keep it.
 */
export const arenaRank = defineEstimator({
  id: 'arena-rank',
  version: 1,
  title: 'Tournament ranking (ArenaRL)',
  citation: { paper: 'arXiv:2601.06487', code: 'Alibaba-NLP/qqr:qqr/reward_models/arena/@8653a9a' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.comparisons'],
  accepts: [],
  sparse: ['trajectory.comparisons'],
  conditional: [{ when: { fallback: 'judgeScore' }, requires: ['trajectory.judgeScore'] }],
  kinds: { 'trajectory.comparisons': Comparisons },
  params: ArenaRankParams,
  estimate(trajectories, columns, params) {
    const { rewards, calls } = replay(
      trajectories,
      columns['trajectory.comparisons'],
      columns['trajectory.judgeScore'],
      params,
    );
    const { epsilon } = params;
    const values = groupAdvantage(rewards, trajectories, { normalizeByStd: true, epsilon, singleton: 'zero' });
    return {
      level: 'trajectory',
      ...silenced(values, 'its group needs a pair that was not judged', (i) => Number.isNaN(rewards[i])),
      explain: {
        rankReward: { level: 'trajectory', values: rewards },
        judgeCalls: { level: 'group', values: calls },
      },
    };
  },
});
