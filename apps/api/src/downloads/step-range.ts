import { RecreditError } from '#lib/kernel';
import type { StepRange } from '#lib/projection';

const MAX_STEP = 2_147_483_647;

/**
 * Training steps as `A..B`, both ends included; either may be left out, `A` alone is one step, nothing is all of them.
 *
 * @throws RecreditError `request.invalid`
 */
export function stepRange(text: unknown): StepRange {
  if (text === undefined) return { first: 0, last: MAX_STEP };
  const [, from = '', dots, to = ''] = /^(\d{0,10})(\.\.)?(\d{0,10})$/.exec(typeof text === 'string' ? text : '') ?? [];
  const first = Number(from);
  const last = dots === undefined ? first : to === '' ? MAX_STEP : Number(to);
  if (from + to !== '' && first <= last && last <= MAX_STEP) return { first, last };
  throw new RecreditError(
    'request.invalid',
    `steps: A..B with A up to B was wanted, such as 0..39, found ${JSON.stringify(text)}`,
    { parameter: 'steps' },
  );
}
