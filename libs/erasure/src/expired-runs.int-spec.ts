import { confine, ensureProject, setRetention } from '#lib/access';
import { erasuresOf, EventLog, readEvents, verifyRun } from '#lib/event-log';
import { Projector } from '#lib/projection';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aRun } from '../../../test/support/rows.js';
import { ndjsonOf } from '../../event-log/src/batch.builder.js';
import { sealBatch } from '#lib/event-log';
import { memoryStore } from '../../projection/src/read-model-rows.builder.js';
import { eraseExpired } from './erase-expired.js';
import { expiredRuns } from './expired-runs.js';
import type { RunEvent } from '#lib/protocol';

const DAY_MS = 24 * 3600 * 1000;
const AT = '2020-01-01T00:00:00Z'; // the trainer's clock counts for nothing
const STEP: RunEvent = { type: 'trainingStep.recorded', at: AT, trainingStep: 0, metrics: { loss: 1 } };
const ENDED: RunEvent = { type: 'run.ended', at: AT };

let db: TestDatabase;
let log: EventLog;
let projector: Projector;
const sequences = new Map<string, number>();
beforeAll(async () => {
  db = await testDatabase();
  log = new EventLog(db.pool, { notify: false });
  projector = new Projector({ pool: db.pool, store: memoryStore() });
});
afterAll(async () => {
  await log.close();
  await db.drop();
});

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);

async function aProjectKeeping(days: number | null): Promise<string> {
  const everything = confine(db.callerPool, '*');
  const { id, name } = await ensureProject(everything, `keeps-${Math.random()}`);
  await setRetention(everything, name, days);
  return id;
}

async function append(run: string, ...events: RunEvent[]): Promise<void> {
  const sequence = sequences.get(run) ?? 0;
  sequences.set(run, sequence + 1);
  const ndjson = ndjsonOf(events);
  await log.append(run, await sealBatch({ producerId: 'p', epoch: 0, sequence, ndjson, eventCount: events.length }));
}

async function aRunWith(project: string, ...events: RunEvent[]): Promise<string> {
  const run = await aRun(db.ownerPool, { project });
  await append(run, ...events);
  await projector.projectRun(run);
  return run;
}

describe('expiredRuns', () => {
  it('names a run that ended and was quiet for longer than its project keeps runs', async () => {
    const project = await aProjectKeeping(30);
    const run = await aRunWith(project, STEP, ENDED);
    const found = async (days: number) => (await expiredRuns(db.pool, inDays(days))).filter(({ id }) => id === run);
    expect(await found(0)).toEqual([]);
    expect(await found(29.9)).toEqual([]);
    expect(await found(30.1)).toMatchObject([{ id: run, retentionDays: 30, position: 2 }]);
  });

  it('leaves alone what is running, what got events after its end, what is not projected and what is kept for ever', async () => {
    const project = await aProjectKeeping(1);
    await aRunWith(project, STEP);
    const behind = await aRunWith(project, STEP, ENDED);
    await append(behind, STEP);
    await aRunWith(await aProjectKeeping(null), STEP, ENDED);
    const late = await aRunWith(project, STEP, ENDED);
    const client = await db.ownerPool.connect();
    await client.query('set session_replication_role = replica');
    await client.query(`update event_batch set received_at = received_at - interval '9 days' where run_id = $1`, [
      late,
    ]);
    await client.query('reset session_replication_role');
    client.release();
    expect((await expiredRuns(db.pool, inDays(0))).map(({ id }) => id)).toEqual([late]);
    await append(late, STEP);
    await projector.projectRun(late);
    expect(await expiredRuns(db.pool, inDays(0))).toEqual([]);
    expect((await expiredRuns(db.pool, inDays(2))).map(({ id }) => id)).toEqual([late]);
  });
});

describe('eraseExpired', () => {
  it('erases what expired, says why in the log, the tombstone and the event, and nothing twice', async () => {
    const project = await aProjectKeeping(7);
    const [run, running] = [await aRunWith(project, STEP, ENDED), await aRunWith(project, STEP)];
    const finished: string[] = [];
    const said: { message: string; details: object }[] = [];
    const ports = {
      pool: db.pool,
      clock: { now: () => inDays(8) },
      finish: async (id: string) => void finished.push(id),
      log: (message: string, details: object) => void said.push({ message, details }),
    };
    await eraseExpired(ports);
    const [erasure] = await erasuresOf(db.pool, [run]);
    expect(erasure).toMatchObject({
      requestedBy: 'retention',
      reason: expect.stringMatching(
        /^project keeps-.* keeps runs for 7 days after they ended; the last event came on /,
      ),
    });
    expect(said.filter(({ details }) => (details as { run: string }).run === run)).toEqual([
      {
        message: 'a run is erased: its retention is over',
        details: expect.objectContaining({ reason: erasure.reason }),
      },
    ]);
    expect(await readEvents(db.pool, run, 0)).toMatchObject([
      { event: { type: 'run.erased', reason: erasure.reason } },
    ]);
    expect(await erasuresOf(db.pool, [running])).toEqual([]);
    expect(finished).toContain(run);

    finished.length = said.length = 0;
    await eraseExpired(ports);
    expect(said).toEqual([]);
    expect(finished).toContain(run); // begun and not finished: taken up again
    expect((await verifyRun(db.pool, run)).events).toBe(3);
  });
});

it('what went on since it was found expired is not erased', async () => {
  const project = await aProjectKeeping(2);
  const [first, second] = [await aRunWith(project, STEP, ENDED), await aRunWith(project, STEP, ENDED)];
  const finish = async (id: string) => void (id === first && (await append(second, STEP)));
  await eraseExpired({ pool: db.pool, clock: { now: () => inDays(3) }, finish });
  expect(await erasuresOf(db.pool, [first, second])).toMatchObject([{ runId: first }]);
});

it('a retention is a number of days from 1 on, or null', async () => {
  const everything = confine(db.callerPool, '*');
  const { name } = await ensureProject(everything, 'wrong');
  for (const days of [0, -1, 1.5, 36_501, NaN]) {
    await expect(setRetention(everything, name, days)).rejects.toMatchObject({ code: 'request.invalid' });
  }
  expect(await setRetention(everything, name, 90)).toMatchObject({ retentionDays: 90 });
  expect(await setRetention(everything, name, null)).toMatchObject({ retentionDays: null });
});
