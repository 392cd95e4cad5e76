import { shareOf, type Lane } from './lanes.js';
import type { Turn } from './queries.js';

/**
 * The turn on which two estimators disagree most: of all pairs with opposite signs the one whose weaker side is furthest
 * from zero, in spreads.
 *
 * @returns null where no two have opposite signs
 */
export function mostDisputed(turns: readonly Turn[], lanes: readonly Lane[]): number | null {
  const estimators = lanes.filter(({ isTruth }) => !isTruth);
  let most = 0;
  let found: number | null = null;
  for (const turn of turns) {
    const shares = estimators.map((lane) => shareOf(lane, turn) ?? 0);
    const dispute = Math.min(Math.max(0, ...shares), -Math.min(0, ...shares));
    if (dispute > most) [most, found] = [dispute, turn.index];
  }
  return found;
}
