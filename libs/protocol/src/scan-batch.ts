import { z } from 'zod';
import type { EventDefinition } from './define-event.js';
import { TrainingStepRecorded, TrajectoryEnded, TurnRecorded } from './run.events.js';
import { exactly, integerAt, object, oneOf, skipSpace, UNSURE, type Scan } from './scan-json.js';
import { fieldsOf, type JsonSchema } from './scan-schema.js';
import { MAX_SIGNAL_NAMES } from './signal-names.js';

const NEWLINE = 0x0a;

/** Where a value was found last. */
interface Place {
  start: number;
  end: number;
}
const [trajectory, turn]: readonly Place[] = [0, 0].map(() => ({ start: 0, end: 0 }));

/**
 * What a trainer sends all day. Of the others no scan is certain, nor of what `contentIssue` and `signalNamesIssue`
 * would have to say something about: tokens, and more names than an event may have.
 */
const turnRecorded = scanOfEvent(TurnRecorded, ({ known }) => ({
  trajectory: noting(known.trajectory, trajectory),
  turn: noting(known.turn, turn),
  tokens: () => UNSURE,
}));
const otherEvent = oneOf([TrajectoryEnded, TrainingStepRecorded].map((event) => scanOfEvent(event)));

function scanOfEvent(
  { type, version, schema }: EventDefinition,
  instead: (fields: ReturnType<typeof fieldsOf>) => Readonly<Record<string, Scan>> = () => ({}),
): Scan {
  const fields = fieldsOf(z.toJSONSchema(schema) as JsonSchema, MAX_SIGNAL_NAMES);
  const required = version > 1 ? [...fields.required, 'version'] : fields.required; // not said: version 1
  const known = { ...fields.known, type: exactly(type), version: exactly(version), ...instead(fields) };
  return object({ ...fields, known, required });
}

function noting(scan: Scan, place: Place): Scan {
  return (bytes, at, levels) => {
    place.start = at;
    place.end = scan(bytes, at, levels);
    return place.end;
  };
}

/**
 * Counts the events of a batch that is certainly good, without making them: a fifth of what it takes to parse and check
 * them, and no garbage. What is not certain is for `checkBatch` to say.
 *
 * @param ndjson UTF-8
 * @returns -1: not certain
 */
export function scanBatch(ndjson: Uint8Array, maxEvents: number, maxLevels: number): number {
  const nextTurn = new Map<string, number>();
  const decoder = new TextDecoder();
  let count = 0;
  for (let at = 0; at < ndjson.length; count++) {
    if (count === maxEvents) return UNSURE;
    const start = skipSpace(ndjson, at);
    let end = turnRecorded(ndjson, start, maxLevels);
    if (end >= 0) {
      const name = decoder.decode(ndjson.subarray(trajectory.start, trajectory.end));
      const index = integerAt(ndjson, turn.start, turn.end);
      if ((nextTurn.get(name) ?? index) !== index) return UNSURE;
      nextTurn.set(name, index + 1);
    } else {
      end = otherEvent(ndjson, start, maxLevels);
      if (end < 0) return UNSURE;
    }
    at = skipSpace(ndjson, end);
    if (at < ndjson.length && ndjson[at++] !== NEWLINE) return UNSURE;
  }
  return count > 0 ? count : UNSURE;
}
