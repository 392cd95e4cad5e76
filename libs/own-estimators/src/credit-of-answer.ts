import type { Column, Credit } from '#lib/credit';
import { z } from 'zod';
import { invalid } from './invalid.js';

const Values = z.union([
  z.instanceof(Float64Array),
  z.instanceof(Float32Array).transform((values) => Float64Array.from(values)),
  z.array(z.union([z.number(), z.nan(), z.null()])).transform((values) => Float64Array.from(values, (x) => x ?? NaN)),
]);
const Texts = z.array(z.union([z.string(), z.null()]));
const Offsets = z.union([z.instanceof(Int32Array), z.array(z.int()).transform((values) => Int32Array.from(values))]);

const Answer = z.strictObject({
  level: z.enum(['trajectory', 'turn', 'token']),
  values: Values,
  explain: z
    .record(
      z.string(),
      z.strictObject({
        level: z.enum(['trajectory', 'turn', 'token', 'group', 'shard']),
        values: z.union([Values, Texts]),
        offsets: Offsets.optional(),
        partition: z.literal(true).optional(),
        selection: z.literal(true).optional(),
      }),
    )
    .optional(),
  warnings: z.array(z.string()).optional(),
});

/**
 * The credit that a user's `estimate` answered with: arrays of numbers become typed arrays, null becomes NaN.
 *
 * @throws RecreditError `estimator.invalid`: what is wrong with it
 */
export function creditOfAnswer(answer: unknown): Credit {
  if (answer instanceof Promise) throw invalid('estimate gave a promise: it must answer at once');
  const result = Answer.safeParse(answer);
  if (!result.success) throw invalid(`estimate gave no credit: ${oneLine(result.error)}`);
  const { level, values, explain, warnings } = result.data;
  const rows = values.filter(Number.isNaN).length;
  if (rows > 0 && rows === values.length) throw invalid(`estimate gave a number on none of ${rows} rows`);
  return {
    level,
    values,
    silent: { rows, why: 'its module gave none' },
    ...(explain && { explain: explain as Record<string, Column> }),
    ...(warnings && { warnings }),
  };
}

const oneLine = ({ issues }: z.ZodError) => {
  const [{ path, message }] = issues;
  return path.length > 0 ? `${path.join('.')}: ${message}` : message;
};
