import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { KeyLimits } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import type { Level } from 'pino';
import { z } from 'zod';
import { bucketUrl, SEGMENTS } from './segments-url.js';

/** What the environment says, with what it does not say filled in. */
export interface Config {
  /** absolute */
  readonly home: string;
  /** null: the embedded Postgres of the home */
  readonly databaseUrl: string | null;
  /** `file:///...`, or `s3://...` with how the bucket is reached in its query */
  readonly segments: string;
  readonly host: string;
  readonly port: number;
  readonly device: 'auto' | 'cuda' | 'webgpu' | 'wasm';
  /** absolute; null: only the estimators of the house */
  readonly estimators: string | null;
  /** where clients find the platform */
  readonly url: string;
  /** null: the first key of the home */
  readonly apiKey: string | null;
  /** how fast each key may be used that says nothing itself; null: no limit */
  readonly limits: KeyLimits;
  readonly logLevel: Level;
}

/** Of disk for copies of what a bucket holds. */
const CACHE_GB = 8;

const Rate = z
  .string()
  .trim()
  .min(1)
  .transform(Number)
  .refine((rate) => rate >= 0 && rate <= 1e9);

/** How each variable is read, what is allowed in words, and whether its value may be shown. */
const VARIABLES = {
  RECREDIT_HOME: { schema: z.string(), allowed: 'a folder' },
  RECREDIT_DATABASE_URL: {
    schema: z.url({ protocol: /^postgres(ql)?$/ }),
    allowed: 'postgres://user:password@host:port/database, a PostgreSQL 15 to 18',
    secret: true,
  },
  RECREDIT_SEGMENTS: {
    schema: z.string().regex(SEGMENTS),
    allowed: 'file:/some/folder, s3://bucket or s3://bucket/prefix',
  },
  RECREDIT_SEGMENTS_CACHE_GB: {
    schema: z
      .string()
      .regex(/^\d+(\.\d+)?$/)
      .transform(Number)
      .refine((size) => size <= 1e6),
    allowed: 'a number of gigabytes from 0 (no copies) to 1e6',
  },
  RECREDIT_SEGMENTS_PATH_STYLE: { schema: z.stringbool(), allowed: 'true or false' },
  RECREDIT_HOST: { schema: z.string().regex(/^[A-Za-z0-9.:_-]+$/), allowed: 'a host name or address to listen on' },
  RECREDIT_PORT: {
    schema: z
      .string()
      .regex(/^\d{1,5}$/)
      .transform(Number)
      .refine((port) => port <= 65_535),
    allowed: 'a port, 0 (any free one) to 65535',
  },
  RECREDIT_DEVICE: { schema: z.enum(['auto', 'cuda', 'webgpu', 'wasm']), allowed: 'auto, cuda, webgpu or wasm' },
  RECREDIT_ESTIMATORS: { schema: z.string(), allowed: 'a folder of estimator modules' },
  RECREDIT_URL: { schema: z.url({ protocol: /^https?$/ }), allowed: 'http://host:port or https://...' },
  RECREDIT_API_KEY: {
    schema: z.string().regex(/^rk_[0-9a-f]+_[0-9a-f]+$/),
    allowed: 'a key, rk_<id>_<secret>',
    secret: true,
  },
  RECREDIT_REQUESTS_PER_SECOND: { schema: Rate, allowed: 'a number from 0 (no limit) to 1e9' },
  RECREDIT_EVENTS_PER_SECOND: { schema: Rate, allowed: 'a number from 0 (no limit) to 1e9' },
  RECREDIT_LOG_LEVEL: {
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
    allowed: 'trace, debug, info, warn, error or fatal',
  },
} as const satisfies Record<string, { schema: z.ZodType; allowed: string; secret?: boolean }>;

type Variable = keyof typeof VARIABLES;
type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the environment once, at start. An empty variable counts as unset; a wrong one is refused. */
export function readConfig(environment: Environment, workingDirectory: string): Config {
  const read = <Name extends Variable>(name: Name) => readVariable(name, environment[name]);
  const absolute = (path: string) => resolve(workingDirectory, path);

  const home = absolute(read('RECREDIT_HOME') ?? '.recredit');
  const estimators = read('RECREDIT_ESTIMATORS');
  return {
    home,
    databaseUrl: read('RECREDIT_DATABASE_URL') ?? null,
    segments: segmentsUrl(environment, home, absolute),
    host: read('RECREDIT_HOST') ?? '127.0.0.1',
    port: read('RECREDIT_PORT') ?? 4000,
    device: read('RECREDIT_DEVICE') ?? 'auto',
    estimators: estimators ? absolute(estimators) : null,
    url: (read('RECREDIT_URL') ?? 'http://127.0.0.1:4000').replace(/\/+$/, ''),
    apiKey: read('RECREDIT_API_KEY') ?? null,
    limits: {
      requestsPerSecond: read('RECREDIT_REQUESTS_PER_SECOND') ?? null,
      eventsPerSecond: read('RECREDIT_EVENTS_PER_SECOND') ?? null,
    },
    logLevel: read('RECREDIT_LOG_LEVEL') ?? 'info',
  };
}

function readVariable<Name extends Variable>(
  name: Name,
  value: string | undefined,
): z.infer<(typeof VARIABLES)[Name]['schema']> | undefined {
  if (value === undefined || value === '') return undefined;
  const { schema, allowed, secret = false }: { schema: z.ZodType; allowed: string; secret?: boolean } = VARIABLES[name];
  const result = schema.safeParse(value);
  if (result.success) return result.data as z.infer<(typeof VARIABLES)[Name]['schema']>;
  const shown = secret ? 'its value, which is not shown,' : JSON.stringify(value);
  throw new RecreditError('config.invalid', `${name}: ${shown} is not allowed; allowed: ${allowed}`, {
    variable: name,
  });
}

function segmentsUrl(environment: Environment, home: string, absolute: (path: string) => string): string {
  const read = <Name extends Variable>(name: Name) => readVariable(name, environment[name]);
  const wanted = read('RECREDIT_SEGMENTS');
  const cacheGb = read('RECREDIT_SEGMENTS_CACHE_GB') ?? CACHE_GB;
  const pathStyle = read('RECREDIT_SEGMENTS_PATH_STYLE') ?? null;
  if (!wanted) return pathToFileURL(join(home, 'segments')).href;
  if (wanted.startsWith('file:')) return fileUrl(wanted, absolute);
  const cache = { folder: join(home, 'segments-cache'), bytes: cacheGb * 1e9 };
  return bucketUrl(wanted, { environment, pathStyle, cache });
}

/** `file:folder` is seen from the working directory, as a shell would. */
function fileUrl(value: string, absolute: (path: string) => string): string {
  const path = value.slice('file:'.length);
  return path.startsWith('//') ? new URL(value).href : pathToFileURL(absolute(path)).href;
}
