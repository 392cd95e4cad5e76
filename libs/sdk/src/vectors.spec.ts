import { checkBatch } from '#lib/protocol';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { revived, sdkVectors } from '../../../test/support/sdk-vectors.js';
import { waitMs } from './backoff.js';
import { encodeEvent, type OutgoingEvent } from './encode-event.js';
import { offline } from './offline.js';
import { outcomeOf } from './problem.js';
import { Trajectory, type TrajectoryEnd, type TurnFields } from './trajectory.js';

// The Python SDK's tests read the same files (libs/sdk-python/tests/test_vectors.py): one spool, one wire.

const events = sdkVectors('events.json');
const trajectories = sdkVectors('trajectories.json');
const requests = sdkVectors('requests.json');

it.each<any>(events.cases)('writes $name', ({ event, line, problem }) => {
  const encoded = encodeEvent(
    () => revived(event) as OutgoingEvent,
    () => events.at,
  );
  if (problem !== undefined) {
    expect(encoded).toEqual({ problem: expect.stringContaining(problem) });
    return;
  }
  if (!('line' in encoded)) throw new TypeError(encoded.problem);
  if (line !== undefined) expect(encoded.line).toBe(line);
  expect(checkBatch(Buffer.from(encoded.line))).toHaveLength(1);
});

it.each<any>(trajectories.cases)('writes the rollout: $name', ({ start, turns, end, lines }) => {
  const written: (string | null)[] = [];
  const trajectory = new Trajectory(start, (make) => {
    const encoded = encodeEvent(make, () => trajectories.at);
    written.push('line' in encoded ? encoded.line : null);
    return { accepted: true };
  });
  for (const turn of turns) trajectory.turn(revived(turn) as TurnFields);
  trajectory.end(revived(end) as TrajectoryEnd);
  expect(written).toEqual(lines);
});

it.each<any>(requests.idempotencyKeys)('names the run $project/$name the same', async ({ project, name, key }) => {
  const spool = mkdtempSync(join(tmpdir(), 'recredit-vectors-'));
  try {
    const run = await offline(spool).startRun({ project, name });
    const [folder] = readdirSync(spool);
    expect(JSON.parse(readFileSync(join(spool, folder, 'producer.json'), 'utf8')).idempotencyKey).toBe(key);
    await run.close();
  } finally {
    rmSync(spool, { recursive: true, force: true });
  }
  const parts = createHash('sha256')
    .update(JSON.stringify([project, name]))
    .digest('hex');
  expect(key).toBe(`sdk-${parts.slice(0, 32)}`);
});

it.each<any>(requests.outcomes.cases)('sorts $status $body', ({ status, body, retryAfter, ...expected }) => {
  const outcome = outcomeOf(status, body, retryAfter, Date.parse(requests.outcomes.now));
  if (outcome.kind === 'done') throw new TypeError('a refusal is not done');
  const afterMs = outcome.kind === 'again' ? outcome.afterMs : null;
  const { code, detail, details } = outcome.problem;
  const found = { kind: outcome.kind, afterSeconds: afterMs === null ? null : afterMs / 1000, code, detail };
  expect({ ...found, expected: details.expected ?? null }).toEqual(expected);
});

it.each<any>(requests.waits.cases)('waits after failure $attempt', ({ attempt, asked, random, seconds }) => {
  const { baseSeconds, capSeconds } = requests.waits;
  const backoff = { baseMs: baseSeconds * 1000, capMs: capSeconds * 1000 };
  expect(waitMs(attempt, asked === null ? null : asked * 1000, random, backoff) / 1000).toBeCloseTo(seconds, 12);
});
