import { RecreditError } from '#lib/kernel';
import { textOf } from './messages.js';
import type { Attributes, Json, Span } from './span.js';

/** Where a trajectory belongs and how it ended, as its root span or its process says. */
export interface Placement {
  /** null: not said */
  readonly project: string | null;
  readonly run: string;
  /** null: not said */
  readonly group: string | null;
  readonly trainingStep: number;
  /** null: asked for and not available; undefined: not said */
  readonly outcomeReward: number | null | undefined;
  readonly success: boolean | undefined;
}

const PLACING = ['project', 'run', 'group', 'training_step', 'outcome_reward', 'success'] as const;
const SIGNAL = 'recredit.signal.';
/** What an OpenTelemetry SDK calls a service without a name. */
const UNKNOWN_SERVICE = 'unknown_service';

/** Whether a span says of itself where it belongs: such a span begins a trajectory. */
export function isPlaced({ attributes }: Span): boolean {
  return PLACING.some((name) => attributes.has(`recredit.${name}`));
}

/**
 * The `recredit.*` attributes of a trajectory's root span, or else of its resource. Text is taken for the number or
 * flag that it spells, as OTEL_RESOURCE_ATTRIBUTES knows text alone.
 *
 * @throws RecreditError `request.invalid` for a value that is none
 */
export function placementOf(root: Span): Placement {
  const said = (name: (typeof PLACING)[number]): Json | undefined =>
    root.attributes.get(`recredit.${name}`) ?? root.resource.get(`recredit.${name}`);
  return {
    project: textOf(said('project')) || null,
    run: textOf(said('run')) || textOf(root.resource.get('service.name')) || UNKNOWN_SERVICE,
    group: textOf(said('group')) || null,
    trainingStep: numberOf('recredit.training_step', said('training_step')) ?? 0,
    outcomeReward: numberOf('recredit.outcome_reward', said('outcome_reward')),
    success: flagOf(said('success')),
  };
}

/** `recredit.reward` of an inference span. */
export function rewardOf({ attributes }: Span): number | null | undefined {
  return numberOf('recredit.reward', attributes.get('recredit.reward'));
}

/**
 * What a span says in signals of its own: `recredit.signal.NAME`, and the scores of evaluations (events
 * `gen_ai.evaluation.result`) as `evaluation.NAME`.
 */
export function ownSignals({ attributes, events }: Span): [string, Json][] {
  const named = [...attributes]
    .filter(([name]) => name.startsWith(SIGNAL))
    .map(([name, value]): [string, Json] => [name.slice(SIGNAL.length), finite(name, value)]);
  const scored = events
    .filter(({ name }) => name === 'gen_ai.evaluation.result')
    .map((event): [string, Json] => [
      `evaluation.${textOf(event.attributes.get('gen_ai.evaluation.name'))}`,
      scoreOf(event.attributes),
    ]);
  return [...named, ...scored];
}

function scoreOf(attributes: Attributes): Json {
  const score = attributes.get('gen_ai.evaluation.score.value') ?? attributes.get('gen_ai.evaluation.score.label');
  return finite('gen_ai.evaluation.score.value', score ?? null);
}

function numberOf(name: string, value: Json | undefined): number | null | undefined {
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (
    typeof number !== 'number' ||
    Math.abs(number) === Infinity ||
    (typeof value === 'string' && Number.isNaN(number))
  ) {
    throw new RecreditError('request.invalid', `${name}: a number was wanted, found ${textOf(value).slice(0, 100)}`);
  }
  return Number.isNaN(number) ? null : number;
}

function flagOf(value: Json | undefined): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === true || value === 1 || value === 'true' || value === '1') return true;
  if (value === false || value === 0 || value === 'false' || value === '0') return false;
  throw new RecreditError(
    'request.invalid',
    `recredit.success: true or false was wanted, found ${textOf(value).slice(0, 100)}`,
  );
}

/** NaN becomes null, as in the SDKs; Infinity is refused. */
function finite(name: string, value: Json): Json {
  if (typeof value === 'number' && Math.abs(value) === Infinity) {
    throw new RecreditError('request.invalid', `${name}: a finite number was wanted, found ${value}`);
  }
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => finite(name, item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, finite(name, inside)]));
}
