/** Which turns of a trajectory kept the advantage, where the others are exactly 0. */
export type TurnPattern = 'only-last-turn' | 'only-first-turn' | 'some-turns';

/** What a trainer logged of an outcome credit: one value per trajectory. */
export interface LoggedOutcome {
  /** [trajectories] the one value that is not 0; of several the greatest in magnitude; NaN: nothing logged */
  readonly values: Float64Array;
  /** null: every turn has the value */
  readonly turnPattern: TurnPattern | null;
  /** [any] trajectories whose values differ by more than being 0 */
  readonly varying: readonly number[];
}

/** Copies of one number may differ by this. */
const SAME = 1e-6;

/**
 * Folds what was logged per turn (or token) into one value per trajectory.
 *
 * @param logged [rows] NaN: not said
 * @param offsets [trajectories + 1] rows of trajectory i: offsets[i] .. offsets[i + 1] - 1
 */
export function loggedOutcome(logged: ArrayLike<number>, offsets: Int32Array): LoggedOutcome {
  const values = new Float64Array(offsets.length - 1).fill(NaN);
  const varying: number[] = [];
  const patterns = new Set<TurnPattern | 'all-turns'>();
  for (let i = 0; i < values.length; i++) {
    const said = rowsThatSpeak(logged, offsets[i], offsets[i + 1]);
    if (said.length === 0) continue;
    const kept = said.filter((row) => logged[row] !== 0);
    if (kept.length === 0) {
      values[i] = 0;
      continue;
    }
    values[i] = logged[kept[0]];
    if (kept.some((row) => !isSame(logged[row], values[i]))) {
      values[i] = kept.reduce((most, row) => (Math.abs(logged[row]) > Math.abs(most) ? logged[row] : most), 0);
      varying.push(i);
    } else if (said.length > 1) patterns.add(patternOf(kept, said));
  }
  return { values, turnPattern: joined(patterns), varying };
}

function rowsThatSpeak(logged: ArrayLike<number>, from: number, to: number): number[] {
  const rows: number[] = [];
  for (let row = from; row < to; row++) if (!Number.isNaN(logged[row])) rows.push(row);
  return rows;
}

const isSame = (a: number, b: number) => Math.abs(a - b) <= SAME * Math.max(1, Math.abs(b));

function patternOf(kept: readonly number[], said: readonly number[]): TurnPattern | 'all-turns' {
  if (kept.length === said.length) return 'all-turns';
  if (kept.length > 1) return 'some-turns';
  if (kept[0] === said.at(-1)) return 'only-last-turn';
  return kept[0] === said[0] ? 'only-first-turn' : 'some-turns';
}

function joined(patterns: ReadonlySet<TurnPattern | 'all-turns'>): TurnPattern | null {
  const [only = 'all-turns', ...more] = patterns;
  if (more.length > 0) return 'some-turns';
  return only === 'all-turns' ? null : only;
}
