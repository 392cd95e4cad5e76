import { RecreditError } from '#lib/kernel';
import { RUN_EVENTS, type RunEvent } from './run.events.js';
import type { EventDefinition } from './define-event.js';

const definitions: ReadonlyMap<string, EventDefinition> = new Map(RUN_EVENTS.map((event) => [event.type, event]));

/** The definition of an event type, if there is one. */
export function definitionOf(type: unknown): EventDefinition | undefined {
  return typeof type === 'string' ? definitions.get(type) : undefined;
}

/**
 * An event in its current shape, whatever version it was written in. Events in the log have passed the checks of
 * their day, so this does not check again.
 */
export function upcast(stored: unknown): RunEvent {
  let event = stored as Record<string, unknown>;
  const definition = definitionOf(event.type);
  if (!definition) throw new RecreditError('events.invalid', `no event type is called ${String(event.type)}`);
  for (let version = Number(event.version ?? 1); version < definition.version; version++) {
    event = { ...definition.upcasts[version](event), version: version + 1 };
  }
  return event as RunEvent;
}
