import { RecreditError } from '#lib/kernel';
import { shown, type LineIssue } from './issues.js';
import { contentIssue } from './named-checks.js';
import { PLATFORM_EVENTS, RUN_EVENTS, type RunEvent } from './run.events.js';
import { scanBatch } from './scan-batch.js';
import { signalNamesIssue } from './signal-names.js';
import { definitionOf, upcast } from './upcast.js';
import { eventIssue, type Issue } from './validators.js';

export const MAX_BATCH_EVENTS = 10_000;
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;
const MAX_ISSUES = 20;
/** Deep enough for any tool's arguments; what walks an event may recurse without fear for the stack. */
export const MAX_DEPTH = 64;
const TYPES = RUN_EVENTS.map((event) => event.type)
  .filter((type) => !PLATFORM_EVENTS.has(type))
  .join(', ');

/**
 * Reads a batch of events: NDJSON in UTF-8, one event a line, a last newline is welcome.
 *
 * @returns the events in their current shape, in order
 * @throws RecreditError `events.invalid` with up to 20 issues, `batch.too-large` over 10,000 events
 */
export function checkBatch(ndjson: Uint8Array): RunEvent[] {
  const lines = linesOf(ndjson);
  if (lines.length > MAX_BATCH_EVENTS) {
    throw new RecreditError(
      'batch.too-large',
      `a batch holds up to ${MAX_BATCH_EVENTS} events, this one ${lines.length}`,
      {
        maximum: MAX_BATCH_EVENTS,
        found: lines.length,
      },
    );
  }
  const issues: LineIssue[] = [];
  const events: RunEvent[] = [];
  const nextTurn = new Map<string, number>();
  for (let i = 0; i < lines.length && issues.length < MAX_ISSUES; i++) {
    const checked = checkLine(lines[i]);
    const issue = 'event' in checked ? turnOrderIssue(checked.event, nextTurn) : checked.issue;
    if (issue) issues.push({ line: i + 1, ...issue });
    else if ('event' in checked) events.push(checked.event);
  }
  if (lines.length === 0) issues.push({ line: 1, pointer: '', expected: 'at least one event', found: 'an empty body' });
  if (issues.length > 0) throw refusal(issues);
  return events;
}

/**
 * The same, for who does not need the events.
 *
 * @param isUtf8 says that of bytes
 * @returns how many they are
 */
export function countEvents(ndjson: Uint8Array, isUtf8: (bytes: Uint8Array) => boolean): number {
  const count = isUtf8(ndjson) ? scanBatch(ndjson, MAX_BATCH_EVENTS, MAX_DEPTH) : -1;
  return count >= 0 ? count : checkBatch(ndjson).length;
}

function linesOf(ndjson: Uint8Array): string[] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(ndjson);
  } catch {
    throw refusal([{ line: lineOfBadUtf8(ndjson), pointer: '', expected: 'UTF-8', found: 'bytes that are not UTF-8' }]);
  }
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function lineOfBadUtf8(bytes: Uint8Array): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline;
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(start, end));
    } catch {
      return line;
    }
    start = end + 1;
  }
  return line;
}

function checkLine(line: string): { event: RunEvent } | { issue: Issue } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return {
      issue: { pointer: '', expected: 'one JSON object', found: `${shown(line)} (${(error as Error).message})` },
    };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { issue: { pointer: '', expected: 'one JSON object', found: shown(value) } };
  }
  if (isDeeperThan(value, MAX_DEPTH)) {
    return { issue: { pointer: '', expected: `JSON nested up to ${MAX_DEPTH} levels`, found: 'deeper nesting' } };
  }
  const { type, version } = value as { type?: unknown; version?: unknown };
  const definition = definitionOf(type);
  if (!definition || PLATFORM_EVENTS.has(definition.type as RunEvent['type'])) {
    return { issue: { pointer: '/type', expected: `one of ${TYPES}`, found: shown(type) } };
  }
  if (
    version !== undefined &&
    !(Number.isInteger(version) && Number(version) >= 1 && Number(version) <= definition.version)
  ) {
    return {
      issue: { pointer: '/version', expected: `a version from 1 to ${definition.version}`, found: shown(version) },
    };
  }
  const event = upcast(value);
  const issue = eventIssue(definition.type, event) ?? contentIssue(event) ?? signalNamesIssue(event);
  return issue ? { issue } : { event };
}

/** Whether a JSON value holds lists and objects inside each other beyond so many levels. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && isDeeperThan(item, levels - 1)) return true;
    return false;
  }
  for (const name in value) {
    const field = (value as Record<string, unknown>)[name];
    if (typeof field === 'object' && isDeeperThan(field, levels - 1)) return true;
  }
  return false;
}

/** Within a batch the turns of a trajectory follow each other without a gap. Across batches the projector looks. */
function turnOrderIssue(event: RunEvent, nextTurn: Map<string, number>): Issue | null {
  if (event.type !== 'turn.recorded') return null;
  const expected = nextTurn.get(event.trajectory);
  nextTurn.set(event.trajectory, event.turn + 1);
  if (expected === undefined || expected === event.turn) return null;
  return { pointer: '/turn', expected: `${expected}, the next turn of ${event.trajectory}`, found: `${event.turn}` };
}

function refusal(issues: readonly LineIssue[]): RecreditError {
  const { line, pointer, expected, found } = issues[0];
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new RecreditError(
    'events.invalid',
    `line ${line}${pointer && ` at ${pointer}`}: expected ${expected}, found ${found}${more}`,
    {
      issues,
    },
  );
}
