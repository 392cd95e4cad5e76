import {
  eventIssue,
  MAX_BATCH_BYTES,
  PLATFORM_EVENTS,
  RUN_EVENTS,
  signalNamesIssue,
  sketchIssue,
  type Issue,
  type RunEvent,
  type RunEventType,
} from '#lib/protocol';
import { plain, Unsendable } from './plain.js';
import { tokenColumn, tokenColumns } from './token-columns.js';

/** An event on its way out: its type, and whatever fields the trainer gave. */
export type OutgoingEvent = Readonly<Record<string, unknown>> & { readonly type: string };

const SENDABLE: ReadonlySet<string> = new Set<RunEventType>(
  RUN_EVENTS.map((event) => event.type).filter((type) => !PLATFORM_EVENTS.has(type)),
);

/** One line of a batch with its newline, or why there is none. Never throws, whatever the event holds. */
export type Encoded = EncodedEvent | { readonly problem: string };

export interface EncodedEvent {
  readonly line: string;
  readonly bytes: number;
  /** of a recorded turn: which one it is */
  readonly turn: TurnAddress | null;
}

export interface TurnAddress {
  readonly trajectory: string;
  readonly turn: number;
}

/**
 * The event as one line. It has passed the checks that the platform will make, so that a batch is not refused for it.
 *
 * @param now what `at` is where the event says nothing else
 */
export function encodeEvent(make: () => OutgoingEvent, now: () => string): Encoded {
  let type = 'the event';
  try {
    const event = make();
    if (!SENDABLE.has(event.type)) return { problem: `a producer does not send events of type ${event.type}` };
    ({ type } = event);
    const sent = plain({ ...withTokenColumns(event), at: event.at ?? now() }) as OutgoingEvent;
    const issue = eventIssue(type, withoutTokens(sent)) ?? contentIssue(sent as unknown as RunEvent);
    if (issue) return { problem: `${type}${issue.pointer}: expected ${issue.expected}, found ${issue.found}` };
    const line = `${JSON.stringify(sent)}\n`;
    const bytes = Buffer.byteLength(line);
    if (bytes <= MAX_BATCH_BYTES) return { line, bytes, turn: turnOf(sent) };
    return { problem: `${type}: expected up to ${MAX_BATCH_BYTES} bytes, found ${bytes}` };
  } catch (error) {
    if (error instanceof Unsendable) {
      return { problem: `${type}${error.pointer}: expected ${error.expected}, found ${error.found}` };
    }
    return { problem: `${type}: ${error instanceof Error ? error.message : 'it cannot be read'}` };
  }
}

/** What the schema does not see; the tokens of turns were looked at when they were written. */
function contentIssue(event: RunEvent): Issue | null {
  return event.type === 'checkpoint.recorded' ? sketchIssue(event) : signalNamesIssue(event);
}

function turnOf({ type, trajectory, turn }: OutgoingEvent): TurnAddress | null {
  return type === 'turn.recorded' ? { trajectory: trajectory as string, turn: turn as number } : null;
}

function withTokenColumns(event: OutgoingEvent): OutgoingEvent {
  switch (event.type) {
    case 'turn.recorded':
      return withTokens(event, '');
    case 'trajectory.recorded':
      if (!Array.isArray(event.turns)) return event;
      return {
        ...event,
        turns: event.turns.map((turn: unknown, i) => (isFields(turn) ? withTokens(turn, `/turns/${i}`) : turn)),
      };
    case 'checkpoint.recorded':
      return under('', () => ({ ...event, sketch: tokenColumn(event.sketch, 'sketch').value }));
    default:
      return event;
  }
}

function withTokens<T extends Readonly<Record<string, unknown>>>(fields: T, pointer: string): T {
  const { tokens } = fields;
  if (!isFields(tokens)) return fields;
  return under(`${pointer}/tokens`, () => ({ ...fields, tokens: tokenColumns(tokens) }));
}

function under<T>(pointer: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof Unsendable) throw new Unsendable(error.expected, error.found, pointer + error.pointer);
    throw error;
  }
}

/**
 * The event with its token columns emptied. Any JSON may stand in them, and that it is JSON `plain` has seen, so the
 * schema need not look at every token again: it would take twice as long as writing them.
 */
function withoutTokens(event: OutgoingEvent): OutgoingEvent {
  const emptied = (column: unknown) => (Array.isArray(column) ? [] : column);
  const outline = <T extends Readonly<Record<string, unknown>>>(fields: T): T =>
    isFields(fields.tokens)
      ? { ...fields, tokens: Object.fromEntries(Object.entries(fields.tokens).map(([k, c]) => [k, emptied(c)])) }
      : fields;
  if (event.type === 'turn.recorded') return outline(event);
  if (event.type !== 'trajectory.recorded' || !Array.isArray(event.turns)) return event;
  return { ...event, turns: event.turns.map((turn: unknown) => (isFields(turn) ? outline(turn) : turn)) };
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
