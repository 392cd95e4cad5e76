/** What a trainer's own arithmetic may lose: it counts in float32, of which 24 bits are the number. */
const UNIT = 2 ** -24;

/** Sums of such rewards, as of 0 and 1 or of halves, lose nothing in float32. */
const isCoarse = (reward: number) => Number.isInteger(reward * 1024) && Math.abs(reward) <= 1024;

interface Rewards {
  /** [trajectories] NaN: not said */
  readonly reward: ArrayLike<number>;
  /** [trajectories] */
  readonly groupOf: Int32Array;
  readonly groupCount: number;
  /** [trajectories] 1: the row is in no statistics; null: all are */
  readonly excluded?: ArrayLike<number> | null;
}

/** The outcome rewards of a training step, and what float32 may lose of each group's sum. */
export interface Lossy {
  /** [trajectories] NaN: not said */
  readonly reward: ArrayLike<number>;
  /** [trajectories] the same, but for one row of each group that is off by what may be lost */
  readonly nudged: Float64Array;
  /** [groups] n · max|R| · 2⁻²⁴ */
  readonly lost: Float64Array;
  /** [trajectories] */
  readonly groupOf: Int32Array;
}

/**
 * What a correct trainer that counts in float32 may lose. The mean of three times 0.9 is 0.89999992 there, and divided by an
 * epsilon of 1e-6 the difference is an advantage of 0.06.
 *
 * @returns null where it loses nothing
 */
export function lossyRewards({ reward, groupOf, groupCount, excluded = null }: Rewards): Lossy | null {
  const sizes = new Int32Array(groupCount);
  const greatest = new Float64Array(groupCount);
  const first = new Int32Array(groupCount).fill(-1);
  const loses = new Uint8Array(groupCount);
  for (let i = 0; i < reward.length; i++) {
    if (Number.isNaN(reward[i]) || excluded?.[i] === 1) continue;
    const group = groupOf[i];
    if (first[group] < 0) first[group] = i;
    sizes[group]++;
    greatest[group] = Math.max(greatest[group], Math.abs(reward[i]));
    if (!isCoarse(reward[i])) loses[group] = 1;
  }
  if (!loses.includes(1)) return null;
  const nudged = Float64Array.from(reward);
  const lost = greatest.map((size, group) => (loses[group] ? sizes[group] * size * UNIT : 0));
  for (let group = 0; group < groupCount; group++) if (loses[group]) nudged[first[group]] += lost[group];
  return { reward, nudged, lost, groupOf };
}

/**
 * How far a correct trainer's advantages may be off: as far as any row of the group moves with the nudge, and what is lost
 * times the slope of the advantage over the reward. The slope speaks where rewards differ, the nudge where all are equal.
 *
 * @param advantage, moved [rows] of the rewards, and of the nudged ones
 * @param trajectoryOf [rows]
 * @returns [rows]
 */
export function lossOf(
  { reward, lost, groupOf }: Lossy,
  advantage: Float64Array,
  moved: Float64Array,
  trajectoryOf: Int32Array,
): Float64Array {
  const furthest = new Float64Array(lost.length);
  const bounds = Array.from(lost, () => ({ reward: [Infinity, -Infinity], advantage: [Infinity, -Infinity] }));
  for (let row = 0; row < advantage.length; row++) {
    const group = groupOf[trajectoryOf[row]];
    const value = reward[trajectoryOf[row]];
    if (Number.isNaN(advantage[row]) || Number.isNaN(value)) continue;
    const distance = Math.abs(moved[row] - advantage[row]);
    if (distance > furthest[group]) furthest[group] = distance;
    widen(bounds[group].reward, value);
    widen(bounds[group].advantage, advantage[row]);
  }
  const loss = bounds.map((of, group) => {
    const range = of.reward[1] - of.reward[0];
    const slope = range > 0 ? (of.advantage[1] - of.advantage[0]) / range : 0;
    const off = furthest[group] + lost[group] * slope;
    return Number.isFinite(off) ? off : 0;
  });
  return Float64Array.from(trajectoryOf, (trajectory) => loss[groupOf[trajectory]]);
}

function widen(bounds: number[], value: number): void {
  if (value < bounds[0]) bounds[0] = value;
  if (value > bounds[1]) bounds[1] = value;
}
