import { EVENT_SCHEMAS, TRAJECTORY_SCHEMA } from './validators.js';
import { RUN_EVENTS } from './run.events.js';

/** The JSON Schemas of everything a producer may send, as served at `/v1/schema`. */
export function schemaDocument() {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Recredit events, version 1',
    trajectory: TRAJECTORY_SCHEMA,
    events: Object.fromEntries(
      RUN_EVENTS.map(({ type, version }) => [type, { version, schema: EVENT_SCHEMAS.get(type) }]),
    ),
  };
}
