import type { TrajectoryBatch } from '#lib/dataset';
import { scratchInts } from '#lib/numeric';
import { z } from 'zod';
import { groupRows, successOf } from '../groups.js';
import { counted, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

const triesOfGroups = scratchInts();
const successesOfGroups = scratchInts();

/**
 * Whether one of k tries succeeds, and whether all do, of n rollouts with c successes.
 *
 *     pass@k  mean over groups with n ≥ k of 1 − C(n − c, k) / C(n, k)     1 where n − c < k
 *     pass^k  mean over groups with n ≥ k of C(c, k) / C(n, k)
 *
 * Source: pass@k of the code models' literature (unbiased), pass^k of tau-bench.
 *
 * @param ks how many tries, each ≥ 1
 * @returns per k; null where no group is large enough
 */
export function passAtK(trajectories: TrajectoryBatch, ks: readonly number[]) {
  const success = successOf(trajectories);
  const groups = groupRows(trajectories);
  // [groups] tries that say whether they succeeded, and those that did
  const tries = triesOfGroups(groups.length).fill(0);
  const successes = successesOfGroups(groups.length).fill(0);
  let [judged, solved] = [0, 0];
  for (let g = 0; g < groups.length; g++) {
    for (const row of groups[g].rows) {
      if (Number.isNaN(success[row])) continue;
      tries[g]++;
      successes[g] += success[row];
    }
    judged += tries[g];
    solved += successes[g];
  }
  const ofEach = ks.map((k) => chancesOf(tries, successes, k));
  return {
    passAtK: ofEach.map(({ any }) => any),
    passHatK: ofEach.map(({ all }) => all),
    eligibleGroups: ofEach.map(({ groups: eligible }) => eligible),
    successRate: judged > 0 ? solved / judged : null,
  };
}

/** Means over the groups of k tries or more. */
function chancesOf(tries: Int32Array, successes: Int32Array, k: number) {
  let groups = 0;
  let any = 0;
  let all = 0;
  for (let g = 0; g < tries.length; g++) {
    const n = tries[g];
    if (n < k) continue;
    groups++;
    any += 1 - share(n - successes[g], n, k);
    all += share(successes[g], n, k);
  }
  return { groups, any: groups > 0 ? any / groups : null, all: groups > 0 ? all / groups : null };
}

/** C(m, k) / C(n, k): the chance that k of n drawn without putting back all lie among m of them. */
function share(m: number, n: number, k: number): number {
  if (m < k) return 0;
  let product = 1;
  for (let i = 0; i < k; i++) product *= (m - i) / (n - i);
  return product;
}

const KS = [1, 2, 4, 8, 16] as const;
const TOO_SMALL = KS.map((k) => `no group has ${counted(k, 'rollout')}`);

export const passAtKDiagnostic = stepwise({
  id: 'pass-at-k',
  version: 1,
  title: 'Success of several tries',
  question: 'How often does one of k tries succeed, and how often do all of them?',
  remedy: 'A wide gap is unreliability: reward consistency, or lower the temperature when it is measured.',
  headline: 'pass@1',
  level: 'trainingStep',
  status: 'verified',
  source: 'huggingface/search-and-learn (pass@k), sierra-research/tau-bench (pass^k)',
  requires: ['trajectory.outcomeReward'],
  accepts: ['trajectory.success'],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    unreliable: z.number().min(0).max(1).default(0.5).describe('pass^4 below this share of pass@1 is worth a note'),
  }),

  measure({ trajectories }) {
    const { passAtK: any, passHatK: all, eligibleGroups, successRate } = passAtK(trajectories, KS);
    if (successRate === null) return null;
    const values = KS.flatMap((k, i) => [[`pass@${k}`, any[i]] as const, [`pass^${k}`, all[i]] as const]);
    const reliability = any[0] && all[2] !== null ? all[2] / any[0] : null;
    const reasons = KS.flatMap((k, i) =>
      eligibleGroups[i] > 0 ? [] : [[`pass@${k}`, TOO_SMALL[i]] as const, [`pass^${k}`, TOO_SMALL[i]] as const],
    );
    return {
      values: { ...Object.fromEntries(values), reliability },
      reasons: { reliability: 'needs groups of four, one of them solved', ...Object.fromEntries(reasons) },
      observations: eligibleGroups[0],
    };
  },

  sentence(values) {
    const k = KS.findLast((some) => values[`pass@${some}`] !== null && some > 1);
    const one = `one try succeeds in ${percent(values['pass@1'] ?? 0)}`;
    if (!k) return one;
    return `${one}, one of ${k} in ${percent(values[`pass@${k}`] ?? 0)}, all ${k} in ${percent(values[`pass^${k}`] ?? 0)}`;
  },

  rules: ({ unreliable }) => [
    {
      id: 'unreliable',
      level: 'info',
      all: [{ value: 'reliability', op: '<', limit: unreliable }],
      says: `four tries all succeed in less than ${percent(unreliable)} of what one try promises`,
    },
  ],
});
