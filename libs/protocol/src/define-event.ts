import { z } from 'zod';
import { Instant } from './fields.js';

/** Turns an event of version n into one of version n + 1. */
export type Upcast = (event: Record<string, unknown>) => Record<string, unknown>;

export interface EventDefinition<Type extends string = string, Schema extends z.ZodType = z.ZodType> {
  readonly type: Type;
  /** the current version; an event that names no version is version 1 */
  readonly version: number;
  readonly schema: Schema;
  /** by the version they start from */
  readonly upcasts: Readonly<Record<number, Upcast>>;
}

/**
 * Defines an event type. Unknown fields are kept. What was stored once can be read for ever:
 * version n needs the upcasts 1 to n - 1.
 */
export function defineEvent<Type extends string, Shape extends z.ZodRawShape>(
  type: Type,
  version: number,
  shape: Shape,
  upcasts: Readonly<Record<number, Upcast>> = {},
) {
  for (let from = 1; from < version; from++) {
    if (!upcasts[from]) throw new TypeError(`${type}: version ${version} needs an upcast from version ${from}`);
  }
  const schema = z.looseObject({
    type: z.literal(type),
    version: z.int().positive().max(version).optional(),
    at: Instant,
    ...shape,
  });
  return { type, version, schema, upcasts } satisfies EventDefinition<Type>;
}
