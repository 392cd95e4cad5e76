import { numbers, type NumericValues, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import { rowsWhere } from '#lib/numeric';
import type { Entries } from './sums.js';

/** What says how likely a token was: the first that is logged. */
export const LOGPROBS = ['token.updatedLogprob', 'token.logprob'] as const;
const SQUARES = 'token.sumProbSquared';

/**
 * How much a turn's log-probability can be moved: the squared length of its gradient by the logits of its tokens.
 *
 *     W[t] = Σ_k mask (1 − 2 π_k + Σ_v π_v²)        from `sumProbSquared` (Σ_v π_v²) and the log-probability ln π_k
 *     W[t] ≥ Σ_k mask (1 − π_k)²                    from the log-probability alone: at least half of it
 *
 * Logits of different tokens are different coordinates, so the gradients of turns stand at right angles to each other,
 * and the gradient of Σ A[t] ln π(turn t) by all logits has the squared length Σ A[t]² W[t]. What the network makes of
 * it, through the parameters that tokens share, is not seen.
 *
 * Source: the first is the expression of verl's variance proxy (rollout/optimal baseline), see methods/diagnostics.md,
 * gradient-noise-scale; its use for directions is ours.
 *
 * @param isWanted [trajectories] 0: not looked at
 * @returns by what it was made of [turns]; NaN: not logged
 */
export function gradientWeights(trajectories: TrajectoryBatch, isWanted: ArrayLike<number>): Entries<Float64Array> {
  const path = LOGPROBS.find((each) => isNumber(trajectories, each));
  if (!path) return [];
  const from = isNumber(trajectories, SQUARES) ? 'sumProbSquared' : 'logprob';
  const { turnOffsets } = trajectories;
  const weight = new Float64Array(trajectories.stateKey.length).fill(NaN);
  const wanted = rowsWhere(turnOffsets.length - 1, (i) => Boolean(isWanted[i]));
  // where nothing is wanted the values of tokens are not asked for: they may have been left in their files
  if (wanted.length === 0) return [[from, weight]];
  const logprob = numbers(trajectories, path)!;
  const squares = numbers(trajectories, SQUARES);
  for (const i of wanted) {
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) weight[t] = weightOf(trajectories, t, logprob, squares);
  }
  return [[from, weight]];
}

/** Whether gradients can be said anything about: a log-probability of tokens is logged. */
export function logsLogprobs(trajectories: TrajectoryBatch): boolean {
  return LOGPROBS.some((path) => isNumber(trajectories, path));
}

const isNumber = ({ columns }: TrajectoryBatch, path: SignalPath) => columns.get(path)?.kind === 'number';

function weightOf(
  { tokenOffsets, columns }: TrajectoryBatch,
  turn: number,
  logprob: NumericValues,
  squares: NumericValues | null,
): number {
  const mask = columns.get('token.mask')?.values;
  let weight = 0;
  let tokens = 0;
  for (let k = tokenOffsets[turn]; k < tokenOffsets[turn + 1]; k++) {
    if (mask?.[k] === 0) continue;
    const p = Math.exp(logprob[k]);
    weight += squares ? Math.max(0, 1 - 2 * p + squares[k]) : (1 - p) ** 2;
    tokens++;
  }
  return tokens > 0 ? weight : NaN;
}

/** Which way an estimator pushes, by the sums over the turns of which it speaks and whose gradient is known. */
export interface GradientPush {
  readonly turns: number;
  /** Σ A √W / Σ |A| √W: 1 makes all likelier that was done, −1 all less likely */
  readonly push: number;
  /** √(Σ A² W) */
  readonly length: number;
}

/** @param credit, weight [turns] */
export function gradientPush(credit: Float64Array, weight: Float64Array): GradientPush {
  let turns = 0;
  let net = 0;
  let size = 0;
  let squares = 0;
  for (let t = 0; t < credit.length; t++) {
    const pushed = credit[t] * Math.sqrt(weight[t]);
    if (!Number.isFinite(pushed)) continue;
    turns++;
    net += pushed;
    size += Math.abs(pushed);
    squares += pushed * pushed;
  }
  return { turns, push: net / size, length: Math.sqrt(squares) };
}

/**
 * The cosine of the angle between the gradients that two credits give: 1 the same direction, 0 nothing in common.
 *
 *     cos = Σ L R W / √(Σ L² W · Σ R² W)
 *
 * @param left, right, weight [turns]
 */
export function gradientCosine(left: Float64Array, right: Float64Array, weight: Float64Array): number {
  let both = 0;
  let ofLeft = 0;
  let ofRight = 0;
  for (let t = 0; t < left.length; t++) {
    const product = left[t] * right[t] * weight[t];
    if (!Number.isFinite(product)) continue;
    both += product;
    ofLeft += left[t] * left[t] * weight[t];
    ofRight += right[t] * right[t] * weight[t];
  }
  return both / Math.sqrt(ofLeft * ofRight);
}
