import type { Confined } from '#lib/access';
import { readEvents, type LoggedEvent as Logged } from '#lib/event-log';
import type { Order } from '../graphql/cursor.js';
import { queryable } from '../graphql/queryable.js';
import type { LoggedEvent } from './event.object.js';

export const BY_POSITION: Order<LoggedEvent> = { parts: ['position'], keyOf: ({ position }) => [position] };

/** Of what is read from the log at once; a page of large events takes several turns. */
const MAX_BYTES = 1024 * 1024;

/** The events of a run from a position on, up to a limit. */
export async function eventsFrom(db: Confined, run: string, position: number, limit: number): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  let next = position;
  while (events.length < limit) {
    const maxEvents = limit - events.length;
    const read = await readEvents(queryable(db), run, next, { maxBatches: maxEvents, maxBytes: MAX_BYTES, maxEvents });
    if (read.length === 0) break;
    events.push(...read.map(eventOf));
    next = read.at(-1)!.position + 1;
  }
  return events;
}

function eventOf({ position, receivedAt, event }: Logged): LoggedEvent {
  const { trainingStep, trajectory, id, turn } = event as Readonly<Record<string, unknown>>;
  return {
    position,
    receivedAt,
    event,
    type: event.type,
    trainingStep: typeof trainingStep === 'number' ? trainingStep : null,
    trajectory: nameOf(event.type === 'trajectory.recorded' ? id : trajectory),
    turn: typeof turn === 'number' ? turn : null,
  };
}

function nameOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
