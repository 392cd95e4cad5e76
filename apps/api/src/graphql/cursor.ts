import { RecreditError } from '#lib/kernel';

/** Sort key of a row. */
export type Key = readonly (string | number)[];

/** integer: of 32 bits; position: of 53; instant: as `toISOString` writes it; `is`: which of its orders a list has. */
export type KeyPart = 'text' | 'instant' | 'integer' | 'position' | 'number' | { readonly is: string };

/** How a list is sorted. */
export interface Order<Node> {
  readonly parts: readonly KeyPart[];
  keyOf(node: Node): Key;
}

/** Opaque to clients. */
export function cursorOf(key: Key): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/**
 * The key that a cursor of this list holds. Every part is checked: it comes from outside and goes into a statement.
 *
 * @throws RecreditError `query.invalid`
 */
export function keyFrom(cursor: string, { parts }: { readonly parts: readonly KeyPart[] }): Key {
  const key = parsed(cursor);
  if (Array.isArray(key) && key.length === parts.length && parts.every((part, i) => fits(part, key[i]))) return key;
  throw new RecreditError('query.invalid', `after: a cursor of this list was wanted, found ${cursor.slice(0, 40)}`);
}

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return null; // whatever it is, it is none of ours
  }
}

function fits(part: KeyPart, value: unknown): boolean {
  return typeof part === 'string' ? IS[part](value) : value === part.is;
}

const IS: Readonly<Record<Extract<KeyPart, string>, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  instant: (value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/.test(value) && !Number.isNaN(Date.parse(value)),
  integer: (value) => Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31,
  position: (value) => Number.isSafeInteger(value),
  number: (value) => Number.isFinite(value),
};
