import { StateIdentity } from '#lib/credit';
import { RecreditError } from '#lib/kernel';
import { InvalidArgumentError, Option, type Command } from 'commander';

export interface StepRange {
  readonly from?: number;
  readonly to?: number;
}

/** `A..B`, both ends included; `A..`, `..B` and `A` alone are ranges too. */
export function stepRange(text: string): StepRange {
  const [, from, dots, to] = /^(\d+)?(\.\.)?(\d+)?$/.exec(text) ?? [];
  const first = from ? { from: Number(from) } : {};
  if (from && !dots) return { ...first, to: Number(from) };
  if (!dots || (!from && !to)) throw new InvalidArgumentError('expected training steps as A..B, such as 0..39.');
  const range = { ...first, ...(to ? { to: Number(to) } : {}) };
  if (from && to && Number(from) > Number(to)) throw new InvalidArgumentError(`${from} comes after ${to}.`);
  return range;
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('expected a whole number from 0.');
}

/** At least one. */
export function positiveNumber(text: string): number {
  const value = wholeNumber(text);
  if (value > 0) return value;
  throw new InvalidArgumentError('expected a whole number from 1.');
}

/** So many a second; 0: no limit. */
export function rate(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 1e9) return value;
  throw new InvalidArgumentError('expected a number from 0 (no limit) to 1e9.');
}

export function nameList(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.every((name) => name !== '')) return names;
  throw new InvalidArgumentError('expected names separated by commas, such as grpo,gigpo.');
}

export function jsonObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidArgumentError(`expected a JSON object, such as '{"gamma": 0.95}'.`);
  }
  if (isObject(value)) return value;
  throw new InvalidArgumentError(`expected a JSON object, such as '{"gamma": 0.95}'.`);
}

const STATES_BY = {
  'last-observation': 'lastObservation',
  'action-observation': 'actionObservation',
  'full-history': 'fullHistory',
  similarity: 'similarity',
  embedding: 'embedding',
} as const;
const WITH_THRESHOLD: ReadonlySet<string> = new Set<StatesBy>(['similarity', 'embedding']);

export type StatesBy = (typeof STATES_BY)[keyof typeof STATES_BY];

/** `last-observation`, `action-observation`, `full-history`, `similarity`, `embedding`; the last two also as `similarity:0.9`. */
export function statesBy(text: string): { readonly by: StatesBy; readonly threshold?: number } {
  const [name, threshold, ...more] = text.split(':');
  const by = Object.hasOwn(STATES_BY, name) ? STATES_BY[name as keyof typeof STATES_BY] : undefined;
  const least = threshold === undefined ? undefined : Number(threshold);
  const isWrong = least !== undefined && (!WITH_THRESHOLD.has(by ?? '') || !(least > 0 && least < 1));
  if (by === undefined || isWrong || more.length > 0) {
    throw new InvalidArgumentError(
      `expected ${Object.keys(STATES_BY).join(', ')}; the last two also with a threshold above 0 and below 1, as similarity:0.9.`,
    );
  }
  return { by, ...(least !== undefined && { threshold: least }) };
}

/** Options of what reads states. */
export interface StateOptions {
  readonly stateIdentity?: ReturnType<typeof statesBy>;
  readonly excludeGenericStates?: boolean;
}

/** A command that may take other states for the same. */
export function choosingStates(command: Command): Command {
  return command
    .option(
      '--state-identity <kind>',
      'which states are the same: last-observation (default), action-observation, full-history, similarity[:0.95], embedding[:0.95]',
      statesBy,
    )
    .option('--exclude-generic-states', 'empty states and errors are the same as no other');
}

/** What was chosen; undefined: nothing was. */
export function chosenStates({ stateIdentity, excludeGenericStates }: StateOptions): StateIdentity | undefined {
  if (!stateIdentity && !excludeGenericStates) return undefined;
  return StateIdentity.parse({
    by: 'lastObservation',
    ...stateIdentity,
    excludeGeneric: excludeGenericStates ?? false,
  });
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The params of each estimator. An object whose keys are all names of the estimators asked for has the params of each
 * under its name; any other one holds the params of all of them.
 */
export function paramsOfEach(
  ids: readonly string[],
  params: Readonly<Record<string, unknown>>,
): readonly { id: string; params: Record<string, unknown> }[] {
  const names = Object.keys(params);
  const isPerEstimator = names.length > 0 && names.every((name) => ids.includes(name) && isObject(params[name]));
  return ids.map((id) => ({
    id,
    params: isPerEstimator ? ((params[id] ?? {}) as Record<string, unknown>) : { ...params },
  }));
}

/** A command that answers with text or, on request, one JSON document. */
export function answers(command: Command): Command {
  return command.addOption(new Option('--json', 'print exactly one JSON document'));
}

/** A command that speaks to a platform. */
export function online(command: Command): Command {
  return answers(command).addOption(
    new Option('--embedded', 'on a platform in this process, on RECREDIT_HOME, for as long as the command lasts'),
  );
}

/** The form of the command line is wrong, found out after it was parsed. */
export function wrongUsage(message: string): RecreditError {
  return new RecreditError('usage.wrong', message);
}
