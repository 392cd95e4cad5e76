/** What can be set of a diagnostic, as its JSON Schema tells it. */
export interface SettingField {
  readonly name: string;
  readonly description: string;
  /** what may be chosen, as texts; null: it is written */
  readonly choices: readonly string[] | null;
  /** what is wanted, in a few words; empty: any JSON */
  readonly wanted: string;
  /** undefined: it has none */
  readonly standard: unknown;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

export function settingFields(schema: unknown): SettingField[] {
  const properties = (schema as { properties?: Readonly<Record<string, Schema>> } | null)?.properties ?? {};
  return Object.entries(properties).map(([name, property]) => ({
    name,
    description: property.description ?? '',
    choices: property.enum ?? (property.type === 'boolean' ? ['true', 'false'] : null),
    wanted: [property, ...(property.anyOf ?? [])].map(wantedText).find((text) => text !== '') ?? '',
    standard: property.default,
  }));
}

const KINDS: Readonly<Record<string, string>> = { integer: 'a whole number', number: 'a number', array: 'a JSON list' };

/** A larger limit is only that of whole numbers in floating point. */
const LARGE = 1e9;

function wantedText({ type, minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): string {
  const kind = KINDS[[type].flat().find((one) => one !== 'null') ?? ''] ?? '';
  const bounds = [
    minimum !== undefined && minimum > -LARGE && `from ${minimum}`,
    exclusiveMinimum !== undefined && `above ${exclusiveMinimum}`,
    maximum !== undefined && maximum < LARGE && `to ${maximum}`,
    exclusiveMaximum !== undefined && `below ${exclusiveMaximum}`,
  ].filter((bound) => bound !== false);
  return [kind, ...bounds].filter((part) => part !== '').join(' ');
}

/** A value as it is written into its field; nothing is written where there is none. */
export function settingText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What stands in a field, as `recredit diagnose --set` reads it: what is no JSON is a text. null: the default. */
export function settingValue(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export type SettingTexts = Readonly<Record<string, string>>;

/** The settings whose text is another one than before, as the mutation takes them. */
export function settingChanges(before: SettingTexts, after: SettingTexts): Record<string, unknown> {
  const changed = Object.entries(after).filter(([name, text]) => text.trim() !== (before[name] ?? ''));
  return Object.fromEntries(changed.map(([name, text]) => [name, settingValue(text)]));
}
