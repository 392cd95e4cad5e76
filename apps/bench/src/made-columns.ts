import { needsOf, parseParams, type AnyEstimator, type SignalKind } from '#lib/credit';
import { levelOf, rowCount, type SignalColumn, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import { seededRandom, type Random } from '#lib/numeric';
import { signalAt } from '#lib/protocol';
import { z } from 'zod';

const GROUP = 8;
const TURNS = 10;
const TOKENS = 2;
const STATES = 1_000;
const ACTIONS = 50;
/** Values that are no numbers are drawn from so many: a million objects would measure the collector. */
const POOL = 64;
const WORDS = 'go to the cabinet drawer shelf and open take put heat cool clean examine apple mug lamp pan'.split(' ');

/**
 * Trajectories in columns, without signals: groups of 8, 10 turns each of 2 tokens, states and actions that come again; every
 * second one branches off the one before. The same call gives the same.
 *
 * @param turns a multiple of 10
 */
export function madeTrajectories(turns: number): TrajectoryBatch {
  const random = seededRandom('made columns');
  const count = turns / TURNS;
  const groupCount = Math.ceil(count / GROUP);
  const steps = (rows: number, size: number) => Int32Array.from({ length: rows + 1 }, (_, i) => i * size);
  const sentence = (words: number) =>
    Array.from({ length: words }, () => WORDS[random.integer(WORDS.length)]).join(' ');
  return {
    ids: Array.from({ length: count }, (_, i) => `trajectory-${i}`),
    groups: Array.from({ length: groupCount }, (_, g) => `task-${g}`),
    groupOf: Int32Array.from({ length: count }, (_, i) => Math.floor(i / GROUP)),
    groupCount,
    trainingStep: new Int32Array(count),
    parentOf: Int32Array.from({ length: count }, (_, i) => (i % 2 === 1 ? i - 1 : -1)),
    parentTurn: Int32Array.from({ length: count }, (_, i) => (i % 2 === 1 ? 3 : -1)),
    turnOffsets: steps(count, TURNS),
    tokenOffsets: steps(turns, TOKENS),
    stateKey: Int32Array.from({ length: turns }, () => random.integer(STATES)),
    actionKey: Int32Array.from({ length: turns }, () => random.integer(ACTIONS)),
    columns: new Map(),
    texts: {
      states: Array.from({ length: STATES }, () => sentence(20)),
      actions: Array.from({ length: ACTIONS }, () => sentence(4)),
    },
  };
}

/** The trajectories with every signal that an estimator requires with its defaults, or uses where it is there. */
export function withSignalsOf(estimator: AnyEstimator, trajectories: TrajectoryBatch): TrajectoryBatch {
  const { requires, accepts, kinds } = needsOf(estimator, parseParams(estimator));
  const paths = new Set([...requires, ...accepts].filter((path) => path !== 'turn.state' && path !== 'turn.action'));
  const columns = new Map([...paths].map((path) => [path, madeColumn(path, kinds[path], trajectories)]));
  return { ...trajectories, columns };
}

function madeColumn(path: SignalPath, kind: SignalKind | undefined, trajectories: TrajectoryBatch): SignalColumn {
  const random = seededRandom(path);
  const level = levelOf(path);
  const rows = rowCount(trajectories, level);
  if (kind === undefined) {
    const draw = numberOf(path, random);
    const values = level === 'token' ? new Float32Array(rows) : new Float64Array(rows);
    return { kind: 'number', values: values.map((_, row) => draw(row)) };
  }
  const pool = Array.from({ length: POOL }, () => (kind === 'text' ? madeText(path, random) : madeValue(kind, random)));
  const values = Array.from({ length: rows }, () => pool[random.integer(POOL)]);
  return pool.every((value) => typeof value === 'string')
    ? { kind: 'text', values: values as string[] }
    : { kind: 'json', values };
}

/** Numbers of the kind and range that the catalogue of signals knows. A whole number of a turn never falls. */
function numberOf(path: SignalPath, random: Random): (row: number) => number {
  const { kind, range = '' } = signalAt(path) ?? {};
  if (path === 'token.mask') return () => 1;
  if (kind === 'flag') return () => random.integer(2);
  if (range.startsWith('-1, ')) return () => random.integer(3) - 1;
  if (kind === 'integer') return (row) => (levelOf(path) === 'turn' ? 1 + (row % TURNS) : 1 + random.integer(5));
  if (range.startsWith('<= 0') || range.startsWith('[-1,0]')) return () => -random.next();
  return () => random.next();
}

function madeText(path: SignalPath, random: Random): string {
  const named = [...(signalAt(path)?.range ?? '').matchAll(/"([^"]+)"/g)].map(([, name]) => name);
  return named.length > 0
    ? named[random.integer(named.length)]
    : `${WORDS[random.integer(WORDS.length)]} ${random.integer(3)}`;
}

/** Of a JSON Schema what is looked at here. */
interface JsonSchema {
  /** several: the first one is made */
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly prefixItems?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
}

function madeValue(schema: z.ZodType, random: Random): unknown {
  const json: JsonSchema = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  return valueOf(json, random);
}

function valueOf(schema: JsonSchema, random: Random): unknown {
  const one = <Item>(items: readonly Item[]) => items[random.integer(items.length)];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return one(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return valueOf(choices[0], random);
  const low = schema.minimum ?? 0;
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, each]) => [name, valueOf(each, random)]),
      );
    case 'array': {
      const items = schema.prefixItems ?? [schema.items, schema.items];
      return items.map((item) => valueOf(item ?? {}, random));
    }
    case 'boolean':
      return random.integer(2) === 1;
    case 'integer':
      return low + random.integer(2);
    case 'number':
      return low + (schema.maximum === undefined ? 1 : schema.maximum - low) * random.next();
    default:
      return WORDS[random.integer(WORDS.length)];
  }
}
