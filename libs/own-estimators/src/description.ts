import { basename } from 'node:path';
import type { AnyEstimator, SignalKinds } from '#lib/credit';
import type { SignalPath } from '#lib/dataset';
import { messageOf } from '#lib/kernel';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { invalid } from './invalid.js';
import type { OwnModule } from './own-estimator.js';

const Path = z
  .templateLiteral([z.enum(['trajectory', 'turn', 'token']), '.', z.string().min(1)])
  .describe('a signal: its level and its name, such as turn.valueEstimate');
const Paths = z.array(Path);
const Level = z.enum(['trajectory', 'turn', 'token']);
const JsonSchema = z.record(z.string(), z.json());
const DEFAULT_SECONDS = 60;
const MOST_SECONDS = 3600;

const Described = {
  id: z.string().regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'expected kebab-case, such as my-estimator'),
  title: z.string().min(1),
  gives: z.enum(['advantage', 'return', 'reward', 'weight', 'keep', 'loss', 'score']),
  levels: z.array(Level).min(1),
  requires: Paths,
  accepts: Paths.default([]),
  groupRelative: z.boolean().default(false),
  /** JSON Schema of an object whose properties have defaults */
  params: JsonSchema.default({ type: 'object', properties: {} }),
  citation: z
    .strictObject({ paper: z.string().optional(), code: z.string().optional(), work: z.string().optional() })
    .optional(),
  conditional: z
    .array(
      z.strictObject({
        when: z.record(z.string(), z.json()),
        where: z.strictObject({ signal: Path, is: z.string() }).optional(),
        requires: Paths.optional(),
        accepts: Paths.optional(),
        texts: z.literal(true).optional(),
      }),
    )
    .default([]),
  signalParams: z.array(z.strictObject({ param: z.string(), level: Level })).default([]),
  /** what the signals are that are no numbers: 'text', or the JSON Schema of a value */
  kinds: z.record(z.string(), z.union([z.literal('text'), JsonSchema])).default({}),
  texts: z.literal(true).optional(),
  /** how long one training step may take before it counts as endless */
  limitSeconds: z.number().positive().max(MOST_SECONDS).default(DEFAULT_SECONDS),
};

const Description = z.strictObject(Described);
const Export = z.strictObject({
  ...Described,
  estimate: z.custom<Estimate>((value) => typeof value === 'function', 'expected a function'),
});

/** What a module says of itself: all of the contract that is data. */
export type Description = z.infer<typeof Description>;

export type Estimate = (...args: never) => unknown;

/** What the default export of a module says and does. @throws RecreditError `estimator.invalid`: what is wrong with it */
export function describedExport(exported: unknown): { description: Description; estimate: Estimate } {
  if (typeof exported !== 'object' || exported === null) {
    throw invalid(`export default an object with id, title, levels ... and estimate; found ${typeof exported}`);
  }
  const result = Export.safeParse(exported);
  if (!result.success) throw invalid(oneLine(z.prettifyError(result.error)));
  const { estimate, ...description } = result.data;
  return { description, estimate };
}

/**
 * The estimator that a module describes.
 *
 * @throws RecreditError `estimator.invalid` where params or kinds are no JSON Schema, or a param has no default
 */
export function estimatorOf(
  { file, hash }: OwnModule,
  description: Description,
  estimate: AnyEstimator['estimate'],
): AnyEstimator {
  const { params, kinds, citation, limitSeconds: _, texts, ...rest } = description;
  return {
    ...rest,
    version: 0,
    hash,
    status: 'own',
    citation: withoutUndefined(citation ?? { work: basename(file) }) as AnyEstimator['citation'],
    conditional: rest.conditional.map(withoutUndefined) as NonNullable<AnyEstimator['conditional']>,
    params: paramsOf(params),
    kinds: Object.fromEntries(
      Object.entries(kinds).map(([path, kind]) => [path as SignalPath, kind === 'text' ? kind : schemaOf(kind, path)]),
    ) satisfies SignalKinds,
    ...(texts && { texts }),
    estimate,
  };
}

function paramsOf(json: z.infer<typeof JsonSchema>): z.ZodObject {
  // a name that is not there is a mistake, as with all estimators
  const schema = schemaOf({ additionalProperties: false, ...json }, 'params');
  if (!(schema instanceof z.ZodObject)) throw invalid('params: expected the JSON Schema of an object');
  const without = Object.entries(schema.shape).flatMap(([name, { safeParse }]) =>
    safeParse(undefined).data === undefined ? [name] : [],
  );
  if (without.length > 0) throw invalid(`params: every param needs a default: ${without.join(', ')}`);
  // a default is taken as it is, so it is put in as if somebody had asked for it
  const asked = schema.safeParse(schema.safeParse({}).data);
  if (asked.success) return schema;
  throw invalid(`params: the defaults are not allowed: ${oneLine(z.prettifyError(asked.error))}`);
}

function schemaOf(json: z.infer<typeof JsonSchema>, what: string): z.ZodType {
  try {
    new Ajv2020({ strict: true, strictTypes: false, logger: false }).compile(json);
    return z.fromJSONSchema(json);
  } catch (error) {
    throw invalid(`${what}: no JSON Schema: ${messageOf(error)}`);
  }
}

const oneLine = (report: string) =>
  report
    .replace(/^✖ /, '')
    .replace(/\n\s*→/g, '')
    .replace(/\n✖ /g, '; ');

/** exactOptionalPropertyTypes: what is undefined is not there. */
function withoutUndefined<Values extends object>(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Values;
}
