import type { NumericValues } from '#lib/dataset';

/**
 * What each turn pays for an action that was not valid. A turn that does not say so, or a batch without the signal,
 * pays nothing.
 *
 * @param isActionValid [turns]
 * @returns [turns]
 */
export function actionPenalties(
  isActionValid: NumericValues | undefined,
  turnCount: number,
  penalty: number,
): Float64Array {
  const penalties = new Float64Array(turnCount);
  if (isActionValid) for (let t = 0; t < turnCount; t++) if (isActionValid[t] === 0) penalties[t] = penalty;
  return penalties;
}
