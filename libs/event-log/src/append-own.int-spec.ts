import { inTransaction } from '#lib/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import { appendOwn } from './append-own.js';
import { aBatch, anEvent, saying } from './batch.builder.js';
import { EventLog } from './event-log.js';
import { headOf } from './heads.js';
import { readEvents } from './read-events.js';
import { verifyRun } from './verify-run.js';

let db: TestDatabase;
beforeAll(async () => (db = await testDatabase()));
afterAll(() => db.drop());

describe('appendOwn', () => {
  it("takes the platform's next batch sequence, however many do it at once and whoever else appends", async () => {
    const runId = await aRun(db.ownerPool);
    const log = new EventLog(db.pool);
    const theirs = Array.from({ length: 20 }, async (_, n) => log.append(runId, await aBatch(`trainer-${n}`, 0)));
    const ours = Array.from({ length: 8 }, (_, n) =>
      appendOwn(db.pool, runId, [anEvent('own', n * 2), anEvent('own', n * 2 + 1)]),
    );
    const positions = await Promise.all(ours);
    await Promise.all(theirs);
    await log.close();

    const events = await readEvents(db.pool, runId, 0);
    expect(events.map((each) => each.position)).toEqual(Array.from({ length: 56 }, (_, i) => i));
    for (const [n, at] of positions.entries()) {
      expect(at.map((position) => saying(events[position].event))).toEqual([`own:${n * 2}`, `own:${n * 2 + 1}`]);
    }
    expect(await verifyRun(db.pool, runId)).toMatchObject({ events: 56, broken: null });
  });

  it('belongs to the transaction of its caller: with the registration of a run, or not at all', async () => {
    const project = await aProject(db.ownerPool);
    const register = (id: string, after: () => void) =>
      inTransaction(db.pool, async (client) => {
        await client.query('insert into run (id, project_id, name) values ($1, $2, $1)', [id, project]);
        const positions = await appendOwn(client, id, [anEvent('own', 0)]);
        after();
        return positions;
      });
    const fail = () => {
      throw new Error('changed my mind');
    };
    await expect(register('lost', fail)).rejects.toThrow('changed my mind');
    expect(await register('kept', () => {})).toEqual([0]);
    expect([await headOf(db.pool, 'lost'), await headOf(db.pool, 'kept')]).toEqual([0, 1]);
  });

  it('says so when there is no such run', async () => {
    await expect(appendOwn(db.pool, 'nowhere', [anEvent('own', 0)])).rejects.toMatchObject({ code: 'run.unknown' });
  });
});
