import { meantInstead, RecreditError } from '#lib/kernel';
import { z } from 'zod';
import type { Hold } from './alerts.js';
import type { AnyDiagnostic } from './diagnostic.js';

/** What a run's diagnostics are asked with beside their defaults: [diagnostic][setting] a value. */
export type Settings = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The settings of one diagnostic, checked and filled in. */
export interface DiagnosticSettings {
  /** of `measure` */
  readonly params: Readonly<Record<string, unknown>>;
  /** of `read` and the rules */
  readonly thresholds: Readonly<Record<string, unknown>>;
  /** of all its rules; empty: each has its own */
  readonly hold: Partial<Hold>;
}

const Steps = z.int().min(1).max(1000);

/** `hold`, which every diagnostic has: a number k is k training steps running. */
const HoldSetting = z
  .union([
    Steps.transform((k): Partial<Hold> => ({ of: k, within: k })),
    z
      .strictObject({ of: Steps.optional(), within: Steps.optional(), clear: Steps.optional() })
      .transform(
        (said) => Object.fromEntries(Object.entries(said).filter(([, steps]) => steps !== undefined)) as Partial<Hold>,
      ),
  ])
  .describe('training steps running until an alert opens, or {of, within, clear}; not said: as each rule has it');

const DEFAULTS: Settings[string] = {};

/** [diagnostic][given] Settings are parsed once: the same ones are asked for with each training step. */
const parsedBefore = new WeakMap<AnyDiagnostic, WeakMap<Settings[string], DiagnosticSettings>>();

/**
 * The settings of a diagnostic: params and thresholds have names of their own, so they are given side by side.
 *
 * @param given what differs from the defaults; nobody writes to it any more
 * @throws RecreditError `params.invalid` with what was wanted, what was found, and where
 */
export function settingsOf(diagnostic: AnyDiagnostic, given: Settings[string] = DEFAULTS): DiagnosticSettings {
  const known = parsedBefore.get(diagnostic)?.get(given);
  if (known) return known;
  const settings = parsedSettings(diagnostic, given);
  const ofDiagnostic = parsedBefore.get(diagnostic) ?? new WeakMap<Settings[string], DiagnosticSettings>();
  parsedBefore.set(diagnostic, ofDiagnostic.set(given, settings));
  return settings;
}

function parsedSettings(diagnostic: AnyDiagnostic, given: Settings[string]): DiagnosticSettings {
  const { params, thresholds } = diagnostic;
  const ofParams: Record<string, unknown> = {};
  const ofThresholds: Record<string, unknown> = {};
  let hold: Partial<Hold> = {};
  for (const [name, value] of Object.entries(given)) {
    if (name === 'hold') hold = parsed(diagnostic, HoldSetting, { hold: value }, 'hold');
    else if (Object.hasOwn(params.shape, name)) ofParams[name] = value;
    else if (Object.hasOwn(thresholds.shape, name)) ofThresholds[name] = value;
    else throw unknownSetting(diagnostic, name);
  }
  return {
    params: parsed(diagnostic, params, ofParams),
    thresholds: parsed(diagnostic, thresholds, ofThresholds),
    hold,
  };
}

/** The names of what can be set of a diagnostic. */
export function settingNames({ params, thresholds }: AnyDiagnostic): string[] {
  return [...Object.keys(params.shape), ...Object.keys(thresholds.shape), 'hold'];
}

/** The JSON Schema of what can be set of a diagnostic, each with its description and default. */
export function settingsSchema({ params, thresholds }: AnyDiagnostic): Readonly<Record<string, unknown>> {
  const schemas = z.strictObject({ ...params.shape, ...thresholds.shape, hold: HoldSetting.optional() });
  return z.toJSONSchema(schemas, { io: 'input' });
}

/** @throws RecreditError `params.invalid` where a diagnostic or a setting is unknown, or a value is none of its */
export function checkSettings(catalogue: readonly AnyDiagnostic[], settings: Settings): void {
  for (const [id, given] of Object.entries(settings)) {
    const diagnostic = catalogue.find((member) => member.id === id);
    if (!diagnostic) {
      const message = `no diagnostic is named ${id}${oneOf(
        id,
        catalogue.map((member) => member.id),
      )}`;
      throw new RecreditError('params.invalid', message, { diagnostic: id });
    }
    settingsOf(diagnostic, given);
  }
}

/** @param only where `given` has nothing but this setting: its value is parsed */
function parsed<Parsed>(
  diagnostic: AnyDiagnostic,
  schema: z.ZodType<Parsed>,
  given: Readonly<Record<string, unknown>>,
  only?: string,
): Parsed {
  const result = schema.safeParse(only ? given[only] : given);
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path, message }) => {
    const place = [...(only ? [only] : []), ...path].map(String);
    const found = place.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], given);
    return { path: place.join('.'), message, found };
  });
  const told = issues.map(({ path, message, found }) => `${diagnostic.id}.${path}: ${message}; found ${shown(found)}`);
  throw new RecreditError('params.invalid', told.join('. '), { diagnostic: diagnostic.id, issues });
}

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 100) ?? 'nothing';

function unknownSetting(diagnostic: AnyDiagnostic, name: string): RecreditError {
  const message = `${diagnostic.id} has no setting ${name}${oneOf(name, settingNames(diagnostic))}`;
  return new RecreditError('params.invalid', message, { diagnostic: diagnostic.id, setting: name });
}

const oneOf = (name: string, names: readonly string[]) =>
  meantInstead(name, names, `: one of ${names.join(', ')} was wanted`);
