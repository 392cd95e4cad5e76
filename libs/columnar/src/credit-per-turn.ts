import { repeatRows, rowMeans } from '#lib/numeric';
import type { CreditFile } from './open-credit.js';

/**
 * The credit of a file as one number per turn, as `turnCredit` of credit gives it: a trajectory's on each of its turns, of
 * tokens the mean of those with mask 1; NaN where nothing is said.
 *
 * @returns [turns]
 */
export function creditPerTurn({ credit, turnOffsets, tokenOffsets, mask }: CreditFile): Float64Array {
  const { level, values } = credit;
  if (level === 'trajectory') return repeatRows(values, turnOffsets);
  if (level === 'turn' || !tokenOffsets) return values;
  return rowMeans(values, tokenOffsets, mask);
}
