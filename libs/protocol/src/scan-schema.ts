import {
  exactly,
  instant,
  integer,
  json,
  list,
  name,
  number,
  object,
  oneOf,
  record,
  text,
  unescaped,
  UNSURE,
  type Fields,
  type Scan,
} from './scan-json.js';

type Constant = string | number | boolean | null;

/** The part of JSON Schema that zod writes of our events. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly anyOf?: readonly JsonSchema[];
  readonly const?: Constant;
  readonly enum?: readonly Constant[];
  readonly type?: string | string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: JsonSchema;
  readonly additionalProperties?: JsonSchema | false;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

/** What is understood of each kind of schema. */
const KEYWORDS: Readonly<Record<string, readonly (keyof JsonSchema)[]>> = {
  string: ['minLength', 'maxLength', 'pattern'],
  integer: ['minimum', 'exclusiveMinimum', 'maximum'],
  number: [],
  boolean: [],
  null: [],
  array: ['items', 'maxItems'],
  object: ['properties', 'required', 'additionalProperties'],
  record: ['propertyNames', 'additionalProperties'],
  constant: ['type'],
  other: [],
};

/** Patterns are looked at by hand, to the letter: of another one no scan is certain. */
const PATTERNS: Readonly<Record<string, (least: 0 | 1, most: number) => Scan>> = {
  '^[^\\p{Cc}\\p{Cs}]+$': name,
  '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$': () => instant,
};

const never: Scan = () => UNSURE;

/**
 * The scans of an object's fields, each certain of nothing but what the schema allows. Of what it does not understand
 * it is never certain.
 *
 * @param maxNames of an object whose fields the schema does not name
 */
export function fieldsOf({ $defs = {}, ...root }: JsonSchema, maxNames: number): Fields {
  const referred = new Map<string, Scan>();

  function scan({ $ref, anyOf, ...schema }: JsonSchema): Scan {
    const values = schema.const === undefined ? schema.enum : [schema.const];
    if ($ref !== undefined) return understood('other', schema, () => reference($ref));
    if (anyOf) return understood('other', schema, () => oneOf(anyOf.map(scan)));
    if (values) {
      const { const: _const, enum: _enum, ...rest } = schema;
      return understood('constant', rest, () => oneOf(values.map(exactly)));
    }
    const { type, ...rest } = schema;
    if (type === undefined) return understood('other', rest, () => json);
    return oneOf([type].flat().map((each) => scanOfType(each, rest)));
  }

  /** Schemas refer to themselves: what stands there is looked up when it is needed. */
  function reference(address: string): Scan {
    let known: Scan | undefined;
    return (bytes, at, levels) => {
      known ??= referred.get(address) ?? refer(address);
      return known(bytes, at, levels);
    };
  }

  function refer(address: string): Scan {
    const definition = $defs[address.replace('#/$defs/', '')];
    const known = definition ? scan(definition) : never;
    referred.set(address, known);
    return known;
  }

  function scanOfType(type: string, schema: JsonSchema): Scan {
    switch (type) {
      case 'string':
        return understood(type, schema, scanOfText);
      case 'integer':
        return understood(type, schema, ({ minimum, exclusiveMinimum = -Infinity, maximum = Infinity }) =>
          integer(minimum ?? exclusiveMinimum + 1, maximum),
        );
      case 'number':
        return understood(type, schema, () => number);
      case 'boolean':
        return understood(type, schema, () => oneOf([exactly(true), exactly(false)]));
      case 'null':
        return understood(type, schema, () => exactly(null));
      case 'array':
        return understood(type, schema, ({ items = {}, maxItems }) => list(scan(items), maxItems));
      case 'object':
        return schema.properties
          ? understood(type, schema, () => object(fields(schema)))
          : understood('record', schema, scanOfRecord);
      default:
        return never;
    }
  }

  /** Names are looked at without their escapes, whatever they may be. */
  function scanOfRecord({ propertyNames = {}, additionalProperties = {} }: JsonSchema): Scan {
    const { type = 'string', ...rule } = propertyNames;
    if (!additionalProperties || type !== 'string') return never;
    const name = understood(type, { maxLength: Infinity, ...rule }, scanOfText);
    return record(name, scan(additionalProperties), maxNames);
  }

  function fields({ properties = {}, required = [], additionalProperties = {} }: JsonSchema): Fields {
    const known = Object.fromEntries(Object.entries(properties).map(([each, schema]) => [each, scan(schema)]));
    return { known, required, others: additionalProperties ? scan(additionalProperties) : null };
  }

  return fields(root);
}

function understood(kind: string, schema: JsonSchema, make: (schema: JsonSchema) => Scan): Scan {
  return Object.keys(schema).every((keyword) => KEYWORDS[kind].some((known) => known === keyword))
    ? make(schema)
    : never;
}

function scanOfText({ minLength = 0, maxLength, pattern }: JsonSchema): Scan {
  if (minLength > 1) return never; // so many characters may be fewer than their bytes
  const least = minLength === 0 ? 0 : 1;
  const most = maxLength ?? Infinity;
  if (pattern !== undefined) return PATTERNS[pattern]?.(least, most) ?? never;
  return least === 0 && maxLength === undefined ? text : unescaped(least, most);
}
