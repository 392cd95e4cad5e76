import type { NumericValues } from '#lib/dataset';
import { rowsWhere } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator, type Credit } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { onTokens } from '../on-tokens.js';

const DeltaParams = z.strictObject({
  refinements: z.int().min(0).max(20).default(1).describe('times that the centroids are weighed anew'),
  minWeight: z.number().nonnegative().default(0.8).describe('weight of a token that lies with the other side'),
  maxWeight: z.number().nonnegative().default(1.2).describe('weight of a token that lies far on its own side'),
  ...GROUP_PARAMS,
});
type Params = z.infer<typeof DeltaParams>;

/** Least squared scale of margins and least sum of weights, as in the reference. */
const LEAST = 1e-8;

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

/** Direction in which a token pulls the output layer: (1 − p) h, p its probability. One row of `size` numbers per token. */
interface Directions {
  readonly size: number;
  /** [rows × size] */
  readonly values: Float64Array;
}

function directionsOf(
  logprob: NumericValues,
  hidden: readonly (readonly number[] | null)[],
  rows: Int32Array,
): Directions {
  const size = hidden[rows[0]]?.length ?? 0;
  const values = new Float64Array(rows.length * size);
  rows.forEach((k, row) => {
    const surprise = 1 - Math.exp(logprob[k]);
    for (let c = 0; c < size; c++) values[row * size + c] = surprise * hidden[k]![c];
  });
  return { size, values };
}

/** Σ w v / max(Σ w, 1e-8) [size] */
function centroid({ size, values }: Directions, weight: Float64Array): Float64Array {
  const mean = new Float64Array(size);
  let total = 0;
  weight.forEach((w, row) => {
    if (w === 0) return;
    total += w;
    for (let c = 0; c < size; c++) mean[c] += w * values[row * size + c];
  });
  return mean.map((sum) => sum / Math.max(total, LEAST));
}

/** Squared distance to the other side's centroid less that to the own one: positive where a token lies with its side. */
function margins(
  { size, values }: Directions,
  advantage: Float64Array,
  positive: Float64Array,
  negative: Float64Array,
) {
  return advantage.map((a, row) => {
    let margin = 0;
    for (let c = 0; c < size; c++) {
      const v = values[row * size + c];
      margin += (v - negative[c]) ** 2 - (v - positive[c]) ** 2;
    }
    return a < 0 ? -margin : margin;
  });
}

/** sqrt(max(E[m²] − E[m]², 1e-8)) over the tokens of a side */
function spread(margin: Float64Array, advantage: Float64Array, sign: 1 | -1): number {
  let count = 0;
  let sum = 0;
  let squares = 0;
  margin.forEach((m, row) => {
    if (Math.sign(advantage[row]) !== sign) return;
    count++;
    sum += m;
    squares += m * m;
  });
  return Math.sqrt(Math.max(count === 0 ? 0 : squares / count - (sum / count) ** 2, LEAST));
}

/**
 * How discriminative tokens are.
 *
 *     μ± = centroid(v, max(±A, 0));  m = ±(‖v − μ⁻‖² − ‖v − μ⁺‖²);  γ± = spread of m over the side
 *     refine: w = sigmoid(m / γ) · |A|, then γ from these margins, then μ± = centroid(v, w)
 *     λ = min + (max − min) · sigmoid(m / γ), min where A = 0;  then λ · N / Σ λ
 *
 * @param advantage [rows]
 * @returns weight and score [rows], centroids [size]
 */
export function discrimination(directions: Directions, advantage: Float64Array, params: Params) {
  const side = (sign: 1 | -1, factor: (row: number) => number) =>
    centroid(directions, advantage.map((a, row) => Math.max(sign * a, 0) * factor(row))); // prettier-ignore
  let positive = side(1, () => 1);
  let negative = side(-1, () => 1);
  let margin = margins(directions, advantage, positive, negative);
  const scales = () => [spread(margin, advantage, 1), spread(margin, advantage, -1)] as const;
  let scale = scales();
  const nearness = (row: number) => sigmoid(margin[row] / (advantage[row] < 0 ? scale[1] : scale[0]));

  for (let pass = 0; pass < params.refinements; pass++) {
    const near = margin.map((_, row) => nearness(row));
    scale = scales();
    positive = side(1, (row) => near[row]);
    negative = side(-1, (row) => near[row]);
    margin = margins(directions, advantage, positive, negative);
  }

  const range = params.maxWeight - params.minWeight;
  const raw = advantage.map((a, row) => params.minWeight + (a === 0 ? 0 : range * nearness(row)));
  const total = raw.reduce((sum, weight) => sum + weight, 0);
  const weight = raw.map((value) => (total === 0 ? 1 : (value * raw.length) / total));
  return { weight, score: scores(directions, advantage, positive, negative), positive, negative };
}

/** sign(A) · (v · (μ⁺ − μ⁻) − ½ Σ (μ⁺² − μ⁻²)): on which side of the middle between the centroids a token lies */
function scores({ size, values }: Directions, advantage: Float64Array, positive: Float64Array, negative: Float64Array) {
  return advantage.map((a, row) => {
    let score = 0;
    for (let c = 0; c < size; c++) {
      score += values[row * size + c] * (positive[c] - negative[c]) - (positive[c] ** 2 - negative[c] ** 2) / 2;
    }
    return a === 0 ? 0 : Math.sign(a) * score;
  });
}

/**
 * DelTA: tokens that tell the rewarded side from the punished one count more, those that both sides share less.
 *
 *     v[k] = (1 − e^logprob) · h[k];  A'[k] = A · λ[k]      see discrimination; statistics over the batch
 */
export const delta = defineEstimator({
  id: 'delta',
  version: 1,
  title: 'Discriminative token weights (DelTA)',
  citation: { paper: 'arXiv:2605.21467', code: 'RUCBM/DelTA:verl-DelTA/verl/workers/actor/dp_actor.py@cf048bd' },
  status: 'verified',
  gives: 'advantage',
  levels: ['token'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'token.logprob', 'token.hiddenState'],
  accepts: ['token.mask'],
  kinds: { 'token.hiddenState': z.array(z.number()).min(1) },
  params: DeltaParams,
  estimate(trajectories, columns, params): Credit {
    const mask = columns['token.mask'];
    const { 'token.logprob': logprob, 'token.hiddenState': hidden } = columns;
    const base = groupAdvantage(columns['trajectory.outcomeReward'], trajectories, params);
    const advantage = onTokens(base, trajectories, mask);
    const rows = rowsWhere(logprob.length, (k) => mask?.[k] !== 0);
    const explain = { baseAdvantage: { level: 'trajectory', values: base } } as const;
    const level = 'token';
    const other = rows.find((k) => hidden[k]!.length !== hidden[rows[0]]!.length);
    if (other !== undefined) {
      const values = advantage.map((value, k) => (mask?.[k] === 0 ? value : NaN));
      const why = `hiddenState has ${hidden[rows[0]]!.length} numbers on one token and ${hidden[other]!.length} on another`;
      return { level, values, explain, silent: { rows: rows.length, why } };
    }

    const directions = directionsOf(logprob, hidden, rows);
    const found = discrimination(directions, Float64Array.from(rows, (k) => advantage[k]), params); // prettier-ignore
    const weight = new Float64Array(logprob.length);
    const score = new Float64Array(logprob.length);
    rows.forEach((k, row) => {
      weight[k] = found.weight[row];
      score[k] = found.score[row];
    });
    const vector = (values: Float64Array) =>
      ({ level: 'shard', values, offsets: Int32Array.of(0, values.length) }) as const;
    return {
      level,
      values: advantage.map((value, k) => value * weight[k]),
      explain: {
        ...explain,
        centroidPositive: vector(found.positive),
        centroidNegative: vector(found.negative),
        tokenScore: { level, values: score },
        tokenWeight: { level, values: weight },
      },
    };
  },
});
