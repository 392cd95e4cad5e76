import { setTimeout as sleep } from 'node:timers/promises';
import { openPool, type Pool } from '#lib/storage';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aRun } from '../../../test/support/rows.js';
import { appendOwn } from './append-own.js';
import { aBatch, anEvent } from './batch.builder.js';
import { EventLog } from './event-log.js';
import { followAppends } from './follow-appends.js';

const NEVER = 1_000_000;

let db: TestDatabase;
let log: EventLog;
let pool: Pool;
beforeAll(async () => {
  db = await testDatabase();
  pool = openPool(db.url, { size: 1, applicationName: 'follower' });
  log = new EventLog(db.pool);
});
afterAll(async () => {
  await log.close();
  await pool.end();
  await db.drop();
});

const seen = (heard: (string | null)[], what: string | null, times = 1) =>
  vi.waitUntil(() => heard.filter((each) => each === what).length >= times, 10_000);

describe('followAppends', () => {
  it('says which run grew, a few times per second and not per append', async () => {
    const [runId, own] = [await aRun(db.ownerPool), await aRun(db.ownerPool)];
    const heard: (string | null)[] = [];
    const following = followAppends(pool, (run) => heard.push(run), { pollMs: NEVER });
    await seen(heard, null);

    for (let n = 0; n < 40; n++) await log.append(runId, await aBatch('p', n));
    await appendOwn(db.pool, own, [anEvent('own', 0)]);
    await seen(heard, runId);
    await seen(heard, own);
    await following.close();

    const notices = heard.filter((run) => run === runId).length;
    expect(notices).toBeLessThan(20);
    expect(heard.filter((run) => run === null)).toHaveLength(1);
  });

  it('does not speak of what was there already or was refused', async () => {
    const runId = await aRun(db.ownerPool);
    await log.append(runId, await aBatch('p', 0));
    await sleep(150);
    const heard: (string | null)[] = [];
    const following = followAppends(pool, (run) => heard.push(run), { pollMs: NEVER });
    await seen(heard, null);
    await log.append(runId, await aBatch('p', 0));
    await expect(log.append(runId, await aBatch('p', 7))).rejects.toThrow('expected batch 1');
    await sleep(150);
    await following.close();
    expect(heard).toEqual([null]);
  });

  it('comes back when its connection dies, and says that it may have missed something', async () => {
    const runId = await aRun(db.ownerPool);
    const heard: (string | null)[] = [];
    const following = followAppends(pool, (run) => heard.push(run), { pollMs: NEVER });
    await seen(heard, null);
    await db.ownerPool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'follower'`,
    );
    await seen(heard, null, 2);
    await log.append(runId, await aBatch('p', 0));
    await seen(heard, runId);
    await following.close();
  });

  it('keeps saying that any run may have grown while it cannot listen', async () => {
    const heard: (string | null)[] = [];
    const away = openPool('postgres://127.0.0.1:1/none');
    const following = followAppends(away, (run) => heard.push(run), { pollMs: 20 });
    await seen(heard, null, 3);
    await following.close();
    const { length } = heard;
    await sleep(60);
    expect(heard).toHaveLength(length);
  });

  it('leaves no connection behind', async () => {
    const following = followAppends(pool, () => {}, { pollMs: NEVER });
    await following.close();
    await vi.waitUntil(async () => {
      const { rows } = await db.ownerPool.query(
        `select count(*)::int as count from pg_stat_activity where application_name = 'follower' and datname = current_database()`,
      );
      return rows[0].count === 0;
    }, 10_000);
  });
});
