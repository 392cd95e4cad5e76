import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { groupRows, mean } from '../groups.js';
import { tokensOfTurns } from '../lengths.js';
import { counted, figure, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/**
 * What a longer budget buys: the curve of success against tokens spent.
 *
 *     points              (0, 0), then (tokens up to turn t, successEstimate after it); the last value is held
 *     normalizedRegret(C) 1 − ∫_0^C curve / C      trapezoids, cut linearly at C; mean over rollouts, then over groups
 *     progress            differences of the values along a trajectory, from 0
 *
 * A trajectory with a turn that lacks either takes no part. Source: CMU-AIRe/MRT analysis/code/regret.ipynb.
 *
 * @param budgets C, in tokens
 */
export function cumulativeRegret(trajectories: TrajectoryBatch, budgets: readonly number[]) {
  const { ids, turnOffsets } = trajectories;
  const estimate = numbers(trajectories, 'turn.successEstimate');
  const tokens = tokensOfTurns(trajectories);
  const curves = ids.map((_, i) => {
    const [from, to] = [turnOffsets[i], turnOffsets[i + 1]];
    const values = estimate ? Array.from(estimate.subarray(from, to)) : [];
    const spent = Array.from(tokens.subarray(from, to));
    return values.length === 0 || [...values, ...spent].some(Number.isNaN) ? null : { values, spent };
  });
  const groups = groupRows(trajectories).map(({ rows }) => rows.flatMap((row) => curves[row] ?? []));
  return {
    curves: groups.reduce((sum, { length }) => sum + length, 0),
    normalizedRegret: budgets.map((budget) =>
      mean(groups.filter(({ length }) => length > 0).map((some) => mean(some.map((curve) => regret(curve, budget)))!)),
    ),
    progress: curves.map((curve) => curve?.values.map((value, t) => value - (t > 0 ? curve.values[t - 1] : 0)) ?? null),
  };
}

function regret({ values, spent }: { values: readonly number[]; spent: readonly number[] }, budget: number): number {
  let x = 0;
  let y = 0;
  let area = 0;
  for (let t = 0; t < values.length && x < budget; t++) {
    if (spent[t] <= 0) {
      y = values[t];
      continue;
    }
    const end = Math.min(x + spent[t], budget);
    const reached = y + ((values[t] - y) * (end - x)) / spent[t];
    area += ((y + reached) / 2) * (end - x);
    [x, y] = [end, reached];
  }
  return 1 - (area + y * (budget - x)) / budget;
}

export const cumulativeRegretDiagnostic = stepwise({
  id: 'cumulative-regret',
  version: 1,
  title: 'What more budget buys',
  question: 'Does a longer budget bring more success, or is it spent for nothing?',
  remedy: 'Reward progress along the way (MRT), or stop rollouts at the smaller budget.',
  headline: 'regret',
  level: 'trajectory',
  status: 'verified',
  source: 'CMU-AIRe/MRT analysis/code/regret.ipynb',
  requires: ['turn.successEstimate'],
  accepts: ['turn.tokenCount', 'token.mask'],
  metrics: [],
  params: z.strictObject({
    budget: z.number().positive().default(4000).describe('tokens of a rollout; twice of it is looked at too'),
  }),
  thresholds: z.strictObject({
    gain: z
      .number()
      .min(0)
      .max(1)
      .default(0.02)
      .describe('less regret at twice the budget: a smaller gain is worth a note'),
  }),

  measure({ trajectories }, { budget }) {
    const { normalizedRegret, curves } = cumulativeRegret(trajectories, [budget / 2, budget, 2 * budget]);
    if (curves === 0) return null;
    const [half, regretNow, double] = normalizedRegret;
    return {
      values: {
        regret: regretNow,
        regretAtHalf: half,
        regretAtDouble: double,
        gainOfDouble: regretNow! - double!,
        budget,
      },
      observations: curves,
    };
  },

  sentence({ regret: now, gainOfDouble, budget }) {
    const gain = gainOfDouble ?? 0;
    const more = gain > 0 ? `twice of it saves ${figure(gain)}` : 'twice of it saves nothing';
    return `of a budget of ${counted(budget ?? 0, 'token')} ${percent(now ?? 0)} of the success is missed on the way; ${more}`;
  },

  rules: ({ gain }) => [
    {
      id: 'budget-for-nothing',
      level: 'info',
      all: [{ value: 'gainOfDouble', op: '<', limit: gain }],
      minimum: 32,
      says: `twice the budget lowers the regret by less than ${gain}`,
    },
  ],
});
