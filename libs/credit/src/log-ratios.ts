import type { NumericValues } from '#lib/dataset';
import { z } from 'zod';
import { implicitReward } from './implicit-reward.js';

/** Where log-probabilities are logged: summed over each turn, or per token. */
export const LogprobLevel = z.enum(['turn', 'token']);

interface LogprobColumns {
  readonly 'turn.logprob'?: NumericValues;
  readonly 'turn.refLogprob'?: NumericValues;
  readonly 'token.logprob'?: NumericValues;
  readonly 'token.refLogprob'?: NumericValues;
  readonly 'token.mask'?: NumericValues;
}

/** [turns] log-probability of each turn under the policy less that under the reference. */
export function logRatios(
  columns: LogprobColumns,
  tokenOffsets: Int32Array,
  level: z.infer<typeof LogprobLevel>,
): Float64Array {
  if (level === 'turn') {
    return Float64Array.from(columns['turn.logprob']!, (l, t) => l - columns['turn.refLogprob']![t]);
  }
  return implicitReward(columns['token.logprob']!, columns['token.refLogprob']!, tokenOffsets, columns['token.mask'], 1); // prettier-ignore
}
