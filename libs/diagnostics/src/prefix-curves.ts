import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { successOf } from './groups.js';

export interface PrefixOptions {
  /** a chance up to this is lost, one from that on is won */
  readonly lost: number;
  readonly won: number;
}

/** Where the outcomes of trajectories were decided. [trajectories] each; turns count from 0 in their trajectory */
export interface PrefixCurves {
  /** 1: all of the curve is known; of the others nothing is said */
  readonly isKnown: Uint8Array;
  /** first turn from which on V stays ≤ lost; -1: a success, or never */
  readonly noReturn: Int32Array;
  /** first turn from which on V stays ≥ won; -1: a failure, or never */
  readonly secured: Int32Array;
  readonly worstTurn: Int32Array;
  readonly worstDrop: Float64Array;
  readonly bestTurn: Int32Array;
  readonly bestGain: Float64Array;
  /** falls of the estimate from ≥ ½ to below; the outcome is no estimate */
  readonly rightToWrong: Int32Array;
}

const EVEN = 0.5;

/**
 * The curves V_0 … V_{T−1}, V_T of all trajectories: the chance of success before each turn, then the outcome.
 *
 * @param before [turns] V before each turn; NaN: not known, its trajectory has no curve
 */
export function prefixCurves(
  trajectories: TrajectoryBatch,
  before: NumericValues,
  { lost, won }: PrefixOptions,
): PrefixCurves {
  const { ids, turnOffsets } = trajectories;
  const success = successOf(trajectories);
  const count = ids.length;
  const curves = {
    isKnown: new Uint8Array(count),
    noReturn: new Int32Array(count).fill(-1),
    secured: new Int32Array(count).fill(-1),
    worstTurn: new Int32Array(count),
    worstDrop: new Float64Array(count),
    bestTurn: new Int32Array(count),
    bestGain: new Float64Array(count),
    rightToWrong: new Int32Array(count),
  };
  for (let i = 0; i < count; i++) {
    const from = turnOffsets[i];
    const to = turnOffsets[i + 1];
    const outcome = success[i];
    if (from === to || Number.isNaN(outcome) || !isWhole(before, from, to)) continue;
    curves.isKnown[i] = 1;
    let worst = Infinity;
    let worstAt = from;
    let best = -Infinity;
    let bestAt = from;
    for (let turn = from; turn < to; turn++) {
      const after = turn + 1 === to ? outcome : before[turn + 1];
      const progress = after - before[turn];
      if (progress < worst) {
        worst = progress;
        worstAt = turn;
      }
      if (progress > best) {
        best = progress;
        bestAt = turn;
      }
    }
    curves.worstTurn[i] = worstAt - from;
    curves.worstDrop[i] = worst;
    curves.bestTurn[i] = bestAt - from;
    curves.bestGain[i] = best;
    curves.rightToWrong[i] = falls(before, from, to);
    // a success is secured from where V never falls below `won` again, a failure beyond return from where it stays ≤ lost
    let since = to;
    if (outcome === 1) {
      while (since > from && before[since - 1] >= won) since--;
      if (outcome >= won && since < to) curves.secured[i] = since - from;
    } else {
      while (since > from && before[since - 1] <= lost) since--;
      if (outcome <= lost && since < to) curves.noReturn[i] = since - from;
    }
  }
  return curves;
}

function isWhole(values: NumericValues, from: number, to: number): boolean {
  for (let k = from; k < to; k++) if (Number.isNaN(values[k])) return false;
  return true;
}

/** How often the estimate falls below one half. */
function falls(before: NumericValues, from: number, to: number): number {
  let count = 0;
  let wasRight = 0;
  for (let turn = from; turn < to; turn++) {
    const isRight = Number(before[turn] >= EVEN);
    count += wasRight & (1 - isRight);
    wasRight = isRight;
  }
  return count;
}
