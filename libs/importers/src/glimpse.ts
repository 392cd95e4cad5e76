/** What can be seen of a file before it is read: enough to tell its format. */
export interface Glimpse {
  readonly path: string;
  readonly layout: 'lines' | 'array' | 'object' | 'parquet';
  /** the first line, element or document that is an object */
  readonly first: Readonly<Record<string, unknown>>;
}

/** Whether an object has all of these fields. */
export function has(value: unknown, ...fields: readonly string[]): boolean {
  return typeof value === 'object' && value !== null && fields.every((field) => Object.hasOwn(value, field));
}

/** "its first line has a, b and c", where it has; the usual reason to recognize a format. */
export function hasFields(glimpse: Glimpse, fields: readonly string[]): string | null {
  if (!has(glimpse.first, ...fields)) return null;
  return `its ${PLACE[glimpse.layout]} ${fields.length > 1 ? `${fields.slice(0, -1).join(', ')} and ` : ''}${fields.at(-1)}`;
}

const PLACE = {
  lines: 'first line has',
  array: 'first element has',
  object: 'document has',
  parquet: 'columns are',
};
