import { MAX_DEPTH } from '#lib/protocol';

/** Lists and objects inside each other that the platform takes; what is deeper is a cycle. */
const DEEPEST = MAX_DEPTH - 1;

/** A value that has no place in an event; says where it stands and what was wanted. */
export class Unsendable extends Error {
  constructor(
    readonly expected: string,
    readonly found: string,
    readonly pointer = '',
  ) {
    super(`${pointer || 'the event'}: expected ${expected}, found ${found}`);
  }

  under(key: string | number): Unsendable {
    const escaped = String(key).replaceAll('~', '~0').replaceAll('/', '~1');
    return new Unsendable(this.expected, this.found, `/${escaped}${this.pointer}`);
  }
}

/**
 * What JSON will make of a value, with NaN as null (asked for and not available). Nothing is copied where nothing
 * changes, so that a long token array costs one pass.
 *
 * @throws Unsendable for Infinity, big integers, maps, sets and cycles
 */
export function plain(value: unknown, depth = 0): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      if (Number.isNaN(value)) return null;
      throw new Unsendable('a finite number', String(value));
    case 'bigint':
      throw new Unsendable('a number', `${value}n`);
    case 'undefined':
    case 'function':
    case 'symbol':
      return undefined;
    case 'object':
      return value === null ? null : plainObject(value, depth);
  }
}

function plainObject(value: object, depth: number): unknown {
  if (depth > DEEPEST) throw new Unsendable(`up to ${MAX_DEPTH} levels`, 'more (a cycle?)');
  if ('toJSON' in value && typeof value.toJSON === 'function') return plain(value.toJSON(), depth + 1);
  if (ArrayBuffer.isView(value)) {
    if (value instanceof DataView) throw new Unsendable('an array', 'a DataView');
    return plainItems(Array.from(value as unknown as Iterable<unknown>), depth);
  }
  if (Array.isArray(value)) return plainItems(value, depth);
  if (value instanceof Map || value instanceof Set) {
    throw new Unsendable('an object or an array', `a ${value.constructor.name}`);
  }
  return plainFields(value as Record<string, unknown>, depth);
}

function plainItems(items: readonly unknown[], depth: number): readonly unknown[] {
  let copy: unknown[] | null = null;
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    if (typeof item === 'number' && Number.isFinite(item)) continue;
    const sent = below(item, i, depth) ?? null;
    if (sent !== item) (copy ??= [...items])[i] = sent;
  }
  return copy ?? items;
}

function plainFields(fields: Readonly<Record<string, unknown>>, depth: number): Readonly<Record<string, unknown>> {
  let copy: Record<string, unknown> | null = null;
  for (const key of Object.keys(fields)) {
    const sent = below(fields[key], key, depth);
    if (sent === undefined) delete (copy ??= { ...fields })[key];
    else if (sent !== fields[key]) put((copy ??= { ...fields }), key, sent);
  }
  return copy ?? fields;
}

/** Also under `__proto__`, which an assignment takes for something else. */
function put(fields: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(fields, key, { value, writable: true, enumerable: true, configurable: true });
}

function below(value: unknown, key: string | number, depth: number): unknown {
  try {
    return plain(value, depth + 1);
  } catch (error) {
    throw error instanceof Unsendable ? error.under(key) : error;
  }
}
