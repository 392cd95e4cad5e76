import { nearness, type Precision, type Tolerance } from './precision.js';
import { TRANSFORMS, type TransformId } from './transforms.js';

/** A formula with its numbers for the rows at hand. */
export interface Hypothesis {
  readonly id: string;
  readonly cause: string;
  /** [rows] */
  readonly advantage: Float64Array;
  /** [rows] what a trainer's arithmetic may lose of it; null: nothing */
  readonly loss: Float64Array | null;
}

export interface Explanation {
  readonly formula: string;
  readonly transform: 'identity' | TransformId;
  /** what the transform did: factor, offset, limit, rows */
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface Explained {
  /** null: nothing that we know of gives these numbers */
  readonly explanation: Explanation | null;
  /** what fits as well: not distinguishable on this data */
  readonly equallyGood: readonly Explanation[];
  /** share of the rows on which the claimed formula gives another number */
  readonly mismatchShare: number;
  /** the nearest formulas, at most three, by ‖L − A‖ / ‖L‖; empty where all logged values are 0 */
  readonly nearest: readonly { readonly formula: string; readonly relativeError: number }[];
}

const NEAREST = 3;

/**
 * Which formula, and what done to it afterwards, gives the logged numbers.
 *
 * Tried in this order: the claimed formula as it is; the others as they are; the claimed one transformed; and only if
 * none of these fits, the others transformed. The first that fits is the explanation, the further ones of the same
 * search are equally good.
 *
 * @param logged [rows] finite
 * @param claimed what the trainer says it used
 * @param others in the order of their plausibility
 */
export function explain(
  logged: Float64Array,
  claimed: Hypothesis,
  others: readonly Hypothesis[],
  precision: Precision,
): Explained {
  const all = [claimed, ...others];
  const asTheyAre = all.filter((each) => fits(logged, each, precision)).map(({ id }) => identity(id));
  let fitting = [...asTheyAre, ...transformed(logged, claimed, precision)];
  if (fitting.length === 0) fitting = others.flatMap((other) => transformed(logged, other, precision));
  const [explanation = null, ...equallyGood] = fitting;
  const near = nearness(toleranceOf(claimed, precision), claimed.advantage);
  const mismatches = logged.filter((value, i) => !near(value, claimed.advantage[i], i)).length;
  return { explanation, equallyGood, mismatchShare: mismatches / logged.length, nearest: nearestOf(logged, all) };
}

const identity = (formula: string): Explanation => ({ formula, transform: 'identity', detail: {} });

const toleranceOf = ({ loss }: Hypothesis, precision: Precision): Tolerance => ({ precision, loss });

function fits(logged: Float64Array, hypothesis: Hypothesis, precision: Precision): boolean {
  const { advantage } = hypothesis;
  const near = nearness(toleranceOf(hypothesis, precision), advantage);
  return logged.every((value, i) => near(value, advantage[i], i));
}

function transformed(logged: Float64Array, hypothesis: Hypothesis, precision: Precision): Explanation[] {
  const { id, advantage } = hypothesis;
  return TRANSFORMS.flatMap((transform) => {
    const detail = transform.fit(logged, advantage, toleranceOf(hypothesis, precision));
    return detail ? [{ formula: id, transform: transform.id, detail }] : [];
  });
}

function nearestOf(logged: Float64Array, hypotheses: readonly Hypothesis[]): Explained['nearest'] {
  const size = Math.sqrt(logged.reduce((sum, value) => sum + value ** 2, 0));
  if (size === 0) return [];
  return hypotheses
    .map(({ id, advantage }) => {
      const distance = Math.sqrt(logged.reduce((sum, value, i) => sum + (value - advantage[i]) ** 2, 0));
      return { formula: id, relativeError: distance / size };
    })
    .sort((a, b) => a.relativeError - b.relativeError)
    .slice(0, NEAREST);
}
