import { RecreditError } from '#lib/kernel';
import { isDeeperThan, MAX_DEPTH, shown } from '#lib/protocol';
import { z } from 'zod';

const Name = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'no control characters');

const RunBody = z.strictObject({
  project: Name,
  name: Name,
  config: z.record(z.string(), z.json()).default({}),
});

/** The body of `POST /v1/runs`. */
export function parseRunBody(body: unknown): z.infer<typeof RunBody> {
  if (isDeeperThan(body, MAX_DEPTH)) {
    throw new RecreditError(
      'request.invalid',
      `JSON nested up to ${MAX_DEPTH} levels was wanted, found deeper nesting`,
    );
  }
  const parsed = RunBody.safeParse(body);
  if (!parsed.success) {
    throw new RecreditError('request.invalid', z.prettifyError(parsed.error), { found: shown(body) });
  }
  assertStorable(parsed.data.config);
  return parsed.data;
}

/** Postgres keeps no NUL and no lone surrogate in jsonb. */
function assertStorable(config: unknown): void {
  JSON.parse(JSON.stringify(config), (key: string, value: unknown) => {
    for (const text of [key, value]) {
      if (typeof text === 'string' && (text.includes('\0') || !text.isWellFormed())) {
        throw new RecreditError(
          'request.invalid',
          `config: text without NUL and lone surrogates was wanted, found ${shown(text)}`,
        );
      }
    }
    return value;
  });
}
