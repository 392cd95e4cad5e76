/** A param as its JSON Schema tells it. */
export interface ParamSchema {
  readonly name: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The params that a form can ask for: numbers, yes or no, and choices. */
export function fieldsOf(schema: unknown): ParamSchema[] {
  const properties = (schema as { properties?: Record<string, Omit<ParamSchema, 'name'>> } | null)?.properties ?? {};
  return Object.entries(properties)
    .map(([name, property]) => ({ ...property, name }))
    .filter(({ type, enum: choices }) => choices || type === 'number' || type === 'integer' || type === 'boolean');
}

interface ParamFieldProps {
  readonly field: ParamSchema;
  /** undefined: the default */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

export function ParamField({ field, value, onChange }: ParamFieldProps) {
  const { name, description, enum: choices, type } = field;
  return (
    <label title={description}>
      {name}
      {choices || type === 'boolean' ? (
        <select
          value={String(value ?? field.default)}
          onChange={({ target }) => onChange(type === 'boolean' ? target.value === 'true' : target.value)}
        >
          {(choices ?? ['true', 'false']).map((choice) => (
            <option key={choice} value={choice}>
              {type === 'boolean' ? (choice === 'true' ? 'yes' : 'no') : choice}
            </option>
          ))}
        </select>
      ) : (
        <input
          type="number"
          step="any"
          min={field.minimum}
          max={field.maximum}
          placeholder={String(field.default)}
          defaultValue={typeof value === 'number' ? value : ''}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.valueAsNumber)}
        />
      )}
    </label>
  );
}
