import { z } from 'zod';
import { TrajectoryRecord } from './fields.js';
import { RUN_EVENTS } from './run.events.js';

/** The JSON Schemas of everything a producer may send, as served at `/v1/schema`. */
export function schemaDocument() {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Recredit events, version 1',
    trajectory: z.toJSONSchema(TrajectoryRecord),
    events: Object.fromEntries(
      RUN_EVENTS.map(({ type, version, schema }) => [type, { version, schema: z.toJSONSchema(schema) }]),
    ),
  };
}
