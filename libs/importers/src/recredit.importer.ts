import { messageOf } from '#lib/kernel';
import { PLATFORM_EVENTS, RUN_EVENTS, shown, upcast, type RunEventType, type TrajectoryRecord } from '#lib/protocol';
import { has } from './glimpse.js';
import { defineImporter, type Parsed, type SourceFile } from './importer.js';
import { valueOf, type Piece } from './piece.js';
import { peek } from './read-records.js';
import { splitElements } from './split-elements.js';
import { splitLines } from './split-lines.js';

export const recredit = defineImporter({
  id: 'recredit',
  title: 'Recredit JSONL',
  description:
    'The protocol itself: one event or one whole trajectory per line, or a JSON document with an array of trajectories.',
  recognizes: ({ first }) => {
    if (EVENT_TYPES.has(String(first.type))) return `its first record is a ${String(first.type)}`;
    if (has(first, 'id', 'group', 'turns')) return 'its first record has id, group and turns';
    const inside = Array.isArray(first.trajectories) ? first.trajectories[0] : null;
    return has(inside, 'id', 'group', 'turns') ? 'its trajectories have id, group and turns' : null;
  },
  reader: () => readRecords,
});

const EVENT_TYPES: ReadonlySet<string> = new Set(RUN_EVENTS.map(({ type }) => type));

async function* readRecords({ path, bytes }: SourceFile): AsyncGenerator<Parsed> {
  const { head, all } = await peek(bytes);
  const layout = layoutOf(head);
  if (layout === 'lines') {
    for await (const line of splitLines(all)) yield parsed(line, `${path}:${line.number}`);
    return;
  }
  const pieces = splitElements(all, layout === 'array' ? null : 'trajectories');
  for (;;) {
    const { done, value: piece } = await pieces.next();
    if (!done) yield parsed(piece, `${path}[${piece.number}]`);
    else if (piece !== null) yield { kind: 'skipped', where: path, why: piece };
    if (done) return;
  }
}

function parsed(piece: Piece, where: string): Parsed {
  const read = valueOf(piece);
  if ('why' in read) return { kind: 'skipped', where, why: read.why };
  const { value } = read;
  const raw = piece.bytes!;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { kind: 'skipped', where, why: `expected an event or a trajectory, found ${shown(value)}` };
  }
  if (!('type' in value)) {
    if ('turns' in value) return { kind: 'trajectory', where, raw, trajectory: value as TrajectoryRecord };
    return { kind: 'skipped', where, why: 'expected an event (with its type) or a trajectory (with its turns)' };
  }
  if (PLATFORM_EVENTS.has(value.type as RunEventType)) {
    return { kind: 'skipped', where, why: `the platform writes ${String(value.type)} itself` };
  }
  try {
    const event = upcast(value);
    // The whole rollout is the same thing with a type; the run's own record call makes the event again.
    if (event.type !== 'trajectory.recorded') return { kind: 'event', where, raw, event };
    const { type: _type, ...trajectory } = event;
    return { kind: 'trajectory', where, raw, trajectory };
  } catch (error) {
    return { kind: 'skipped', where, why: messageOf(error) };
  }
}

/** Lines are the rule. A document begins with `[`, or is an object that opens an array of trajectories. */
function layoutOf(head: string): 'lines' | 'array' | 'document' {
  const text = head.replace(/^\uFEFF/, '').trimStart();
  if (text.startsWith('[')) return 'array';
  const firstLine = text.slice(0, Math.max(0, text.indexOf('\n')));
  if (isRecord(firstLine)) return 'lines';
  return /^\{[^]*?"trajectories"\s*:\s*\[/.test(text) ? 'document' : 'lines';
}

function isRecord(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !('trajectories' in value);
  } catch {
    return false;
  }
}
