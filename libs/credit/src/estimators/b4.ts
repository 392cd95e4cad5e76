import type { TrajectoryBatch } from '#lib/dataset';
import { logBeta } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { groupMembers } from '../group-members.js';
import { Flag } from '../signal-kinds.js';
import { silenced } from '../silenced.js';

const B4Params = z.strictObject({
  alphaXy: z
    .number()
    .positive()
    .default(10)
    .describe('how likely right solutions and right tests are beforehand; on real data the reference takes 1000'),
  beta0: z
    .number()
    .positive()
    .default(10)
    .describe('how unlikely a wrong solution passes a wrong test; on real data the reference takes 10000 to 1000000'),
  reward: z
    .enum(['best', 'posterior'])
    .default('best')
    .describe('1 for a solution of the best cluster, or the probability of its cluster'),
  zeroPasses: z
    .enum(['keep', 'drop'])
    .default('keep')
    .describe("a cluster that passes no test can win ('keep', the reference) or has no weight ('drop')"),
  ...GROUP_PARAMS,
});
type Params = z.infer<typeof B4Params>;

/** Solutions with the same row of test results: one hypothesis. */
interface Cluster {
  readonly row: readonly number[];
  /** places in the group */
  readonly members: number[];
}

interface ScoredCluster extends Cluster {
  readonly score: number;
  /** tests it passes */
  readonly passes: number;
}

/** Clusters in order of first appearance. */
export function clustersOf(rows: readonly (readonly number[])[]): Cluster[] {
  const clusters = new Map<string, Cluster>();
  rows.forEach((row, i) => {
    const cluster = clusters.get(row.join('')) ?? { row, members: [] };
    clusters.set(row.join(''), cluster);
    cluster.members.push(i);
  });
  return [...clusters.values()];
}

/**
 * Log likelihood that exactly this cluster is right, and that the right tests are those it passes.
 *
 *     lnB(k + α, M − k + 1) + lnB(c + α, N − c + 1) + lnB(n1 + 1, t1 − n1 + 1) + lnB(n0 + 1, t0 − n0 + β)
 *
 * k passes of M tests, c members of N solutions; n1 of t1: what the others pass of the tests that it passes; n0 of t0: of
 * the tests that it fails.
 */
export function clusterScore(
  { row, members }: Cluster,
  rows: readonly (readonly number[])[],
  { alphaXy, beta0 }: Pick<Params, 'alphaXy' | 'beta0'>,
): number {
  const passes = row.reduce((sum, pass) => sum + pass, 0);
  const own = new Set(members);
  let [n1, n0] = [0, 0];
  rows.forEach((other, i) => {
    if (own.has(i)) return;
    other.forEach((pass, m) => {
      if (row[m] === 1) n1 += pass;
      else n0 += pass;
    });
  });
  const others = rows.length - members.length;
  const [t1, t0] = [others * passes, others * (row.length - passes)];
  return (
    logBeta(passes + alphaXy, row.length - passes + 1) +
    logBeta(members.length + alphaXy, others + 1) +
    logBeta(n1 + 1, t1 - n1 + 1) +
    logBeta(n0 + 1, t0 - n0 + beta0)
  );
}

/** What each cluster is worth as a reward. Clusters of one score are worth the same, whichever comes first. */
function rewardsOf(clusters: readonly ScoredCluster[], { reward, zeroPasses }: Params): number[] {
  const weights = clusters.map(({ score, passes }) => (zeroPasses === 'drop' && passes === 0 ? -Infinity : score));
  const top = Math.max(...weights);
  if (top === -Infinity) return clusters.map(() => 0);
  if (reward === 'best') return weights.map((weight) => Number(weight === top));
  const shares = weights.map((weight) => Math.exp(weight - top));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

/** [trajectories] of each column; NaN in a group whose rows are not of one length */
function scoreGroups(trajectories: TrajectoryBatch, results: readonly (readonly number[] | null)[], params: Params) {
  const count = results.length;
  const column = () => new Float64Array(count).fill(NaN);
  const [score, rank, codeT, mbr, maxPass, reward] = [column(), column(), column(), column(), column(), column()];
  const best: string[] = [];
  const bestOffsets = new Int32Array(trajectories.groupCount + 1);
  groupMembers(trajectories).forEach((group, g) => {
    const rows = group.map((i) => results[i] ?? []);
    if (rows.every((row) => row.length === rows[0].length)) {
      const clusters = clustersOf(rows).map((cluster) => ({
        ...cluster,
        score: clusterScore(cluster, rows, params),
        passes: cluster.row.reduce((sum, pass) => sum + pass, 0),
      }));
      const rewards = rewardsOf(clusters, params);
      const order = clusters.map((_, k) => k).sort((a, b) => clusters[b].score - clusters[a].score);
      clusters.forEach(({ members, score: of, passes }, k) => {
        for (const i of members.map((member) => group[member])) {
          score[i] = of;
          rank[i] = order.indexOf(k);
          codeT[i] = passes * Math.sqrt(members.length);
          mbr[i] = members.length;
          maxPass[i] = passes;
          reward[i] = rewards[k];
          if (rank[i] === 0) best.push(trajectories.ids[i]);
        }
      });
    }
    bestOffsets[g + 1] = best.length;
  });
  return { score, rank, codeT, mbr, maxPass, reward, best, bestOffsets };
}

/**
 * B4: solutions that pass the same generated tests are one hypothesis about what is right, and the likeliest one wins.
 *
 *     score[cluster] by clusterScore;   R[i] = 1 in the best cluster, else 0; or softmax of the scores over the clusters
 *     A[i] = (R[i] − mean_g R) / (std_g R + ε)      ddof = 1
 */
export const b4 = defineEstimator({
  id: 'b4',
  version: 1,
  title: 'Plausible solutions by plausible tests (B4)',
  citation: {
    code: 'ZJU-CTAG/B4:strategy.py@ae5f83e',
    work: 'B4: Towards Optimal Assessment of Plausible Code Solutions with Plausible Tests, 2024',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.testResults'],
  accepts: [],
  kinds: { 'trajectory.testResults': z.array(Flag) },
  params: B4Params,
  estimate(trajectories, columns, params) {
    const results = columns['trajectory.testResults'];
    const { score, rank, codeT, mbr, maxPass, reward, best, bestOffsets } = scoreGroups(trajectories, results, params);
    const level = 'trajectory';
    return {
      level,
      ...silenced(groupAdvantage(reward, trajectories, params), 'the tests of its group are not the same ones', (i) =>
        Number.isNaN(reward[i]),
      ),
      explain: {
        b4Score: { level, values: score },
        b4Rank: { level, values: rank },
        codeTScore: { level, values: codeT },
        mbrScore: { level, values: mbr },
        maxPassScore: { level, values: maxPass },
        trajectoryReward: { level, values: reward },
        best: { level: 'group', values: best, offsets: bestOffsets },
      },
    };
  },
});
