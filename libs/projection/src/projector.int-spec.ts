import { EventLog } from '#lib/event-log';
import { openPool, type PoolClient } from '#lib/storage';
import type { QueryRunner } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JudgedTrajectories1767225627000 } from '../../../migrations/1767225627000-judged-trajectories.js';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import { appendBatch, appendBusyRun, appendEvents } from './busy-run.builder.js';
import { READ_MODEL_TABLES } from './drop-read-models.js';
import { anEvent } from './events.builder.js';
import { projectChunk } from './project-chunk.js';
import { PROJECTED_CHANNEL } from './projected-notices.js';
import { Projector, type ProjectorParts } from './projector.js';
import { everythingOf, memoryStore } from './read-model-rows.builder.js';
import { projectedPosition } from './readers/projected-position.js';
import { rebuild } from './rebuild.js';
import { withRun } from './run-lock.js';

const segmentSize = { turns: 40, bytes: Infinity };

let db: TestDatabase;
const store = memoryStore();
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.drop());

const projector = (parts: Partial<ProjectorParts> = {}) =>
  new Projector({ pool: db.pool, store, segmentSize, ...parts });
const everything = (runId: string) => everythingOf(db.pool, store, runId);

/** What one projector makes of the log in one go, after all that is there was thrown away, files as well. */
async function rebuilt(runId: string, parts: Partial<ProjectorParts> = {}) {
  for (const key of await store.list(`segments/${runId}/`)) await store.delete(key);
  await rebuild(db.pool, store, runId, { segmentSize, ...parts });
  return everything(runId);
}

describe('a rebuild', () => {
  it('gives the same rows and files, however the events fall into chunks', async () => {
    const runId = await aRun(db.ownerPool);
    await appendBusyRun(db.pool, runId, 'busy');
    await projector().projectRun(runId);
    const once = await everything(runId);
    expect(once.tables.trajectory.length).toBeGreaterThan(60);
    expect(once.tables.segment.length).toBeGreaterThan(5);
    expect(once.tables.rewind).toHaveLength(2);
    expect(once.tables.checkpoint_sketch).toHaveLength(4 * 8);
    expect(Object.keys(once.files)).toHaveLength(2 * once.tables.segment.length);
    for (const chunk of [{ maxBatches: 1 }, { maxBatches: 3 }, { maxBytes: 5_000 }]) {
      expect(await rebuilt(runId, { chunk })).toEqual(once);
    }
  });

  it('gives the counts that a migration made of the rows of before', async () => {
    const runId = await aRun(db.ownerPool);
    await appendBusyRun(db.pool, runId, 'migrated');
    await projector().projectRun(runId);
    const projected = await everything(runId);
    const migration = new JudgedTrajectories1767225627000();
    const owner = db.ownerPool as unknown as QueryRunner;
    await migration.down(owner);
    await migration.up(owner);
    expect(await everything(runId)).toEqual(projected);
  });

  it('removes files that no segment names, and leaves other runs alone', async () => {
    const [runId, other] = [await aRun(db.ownerPool), await aRun(db.ownerPool)];
    for (const id of [runId, other]) {
      await appendEvents(db.pool, id, [anEvent.whole('t', 1), anEvent.ended()]);
      await projector().projectRun(id);
    }
    const before = [await everything(runId), await everything(other)];
    await store.put(`segments/${runId}/9-stray.arrow`, Uint8Array.of(1));
    expect(await rebuild(db.pool, store, runId, { segmentSize })).toEqual([{ runId, events: 2 }]);
    expect([await everything(runId), await everything(other)]).toEqual(before);
  });
});

describe('while it is rebuilt, a run', () => {
  async function projectedRun(project: string) {
    const runId = await aRun(db.ownerPool);
    await appendBusyRun(db.pool, runId, project);
    await projector().projectRun(runId);
    return runId;
  }

  it('is read as it was', async () => {
    const runId = await projectedRun('read meanwhile');
    const before = await everything(runId);
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const put = async (key: string, bytes: Uint8Array) => {
      begun.resolve();
      await goOn.promise;
      await store.put(key, bytes);
    };
    const done = rebuild(db.pool, { ...store, put }, runId, { segmentSize });
    await begun.promise;
    const meanwhile = await everything(runId);
    goOn.resolve();
    await done;
    expect([meanwhile, await everything(runId)]).toEqual([before, before]);
  });

  it('stays as it was where that fails', async () => {
    const runId = await projectedRun('failing');
    const before = await everything(runId);
    let puts = 0;
    const put = async (key: string, bytes: Uint8Array) => {
      if (++puts === 5) throw new Error('the disk is full');
      await store.put(key, bytes);
    };
    await expect(rebuild(db.pool, { ...store, put }, runId, { segmentSize })).rejects.toThrow('the disk is full');
    expect(await everything(runId)).toEqual(before);
  });
});

describe('an interrupted projector', () => {
  it('repeats nothing and loses nothing when its connection is killed in the middle of a chunk', async () => {
    const runId = await aRun(db.ownerPool);
    await appendBusyRun(db.pool, runId, 'killed');
    const pool = openPool(db.url, { role: 'recredit_app', projects: '*', size: 1 });
    let puts = 0;
    const killing = async (key: string, bytes: Uint8Array) => {
      await store.put(key, bytes);
      if (++puts % 2 === 1) await db.ownerPool.query(KILL);
    };
    let failures = 0;
    while ((await projectedPosition(db.pool, runId)) < (await headOf(runId))) {
      // the store gives a worker that is killed at every other file; each try gets one segment further than the last
      const doomed = projector({ pool, store: failures < 6 ? { put: killing } : store, chunk: { maxBatches: 2 } });
      await doomed.projectRun(runId).catch(() => failures++);
    }
    expect(failures).toBe(6);
    const survived = await everything(runId);
    expect(survived).toEqual(await rebuilt(runId));
    await pool.end();
  });

  it('goes on between chunks where another one stopped', async () => {
    const runId = await aRun(db.ownerPool);
    await appendBusyRun(db.pool, runId, 'handed over');
    for (let count: number | null = 1; count;) {
      const options = { maxBatches: 5, maxBytes: 1e6, segmentSize, store };
      count = await withRun(db.pool, runId, true, (client) => projectChunk(client, runId, options));
    }
    const inTurns = await everything(runId);
    expect(inTurns).toEqual(await rebuilt(runId));
  });
});

describe('projectors that follow', () => {
  it('share runs while producers write to them, and do nothing twice', async () => {
    const runIds = [await aRun(db.ownerPool), await aRun(db.ownerPool), await aRun(db.ownerPool)];
    const errors: unknown[] = [];
    const workers = [1, 2, 3].map((maxBatches) =>
      projector({ chunk: { maxBatches }, concurrency: 2, onError: (_, error) => errors.push(error) }),
    );
    for (const worker of workers) worker.start();
    await Promise.all(runIds.map((runId) => appendBusyRun(db.pool, runId, runId)));
    for (const runId of runIds) {
      const head = await headOf(runId);
      await expect.poll(() => projectedPosition(db.pool, runId), { timeout: 30_000 }).toBe(head);
    }
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(errors).toEqual([]);
    for (const runId of runIds) {
      const shared = await everything(runId);
      expect(shared).toEqual(await rebuilt(runId));
    }
  });

  it('say which run advanced, so that who waits need not poll', async () => {
    const runId = await aRun(db.ownerPool);
    const client: PoolClient = await db.ownerPool.connect();
    const heard = new Promise<string | undefined>((resolve) =>
      client.on('notification', ({ payload }) => payload === runId && resolve(payload)),
    );
    await client.query(`listen ${PROJECTED_CHANNEL}`);
    const worker = projector();
    worker.start();
    await appendEvents(db.pool, runId, [anEvent.turn('t', 0)]);
    expect(await heard).toBe(runId);
    expect(await projectedPosition(db.pool, runId)).toBe(1);
    await worker.stop();
    client.release(true);
  });

  it('need no more than one notice to see what was appended', async () => {
    const runId = await aRun(db.ownerPool);
    const log = new EventLog(db.pool);
    const worker = projector({ pollMs: 1e8 });
    worker.start();
    for (const [sequence, head] of [1, 2, 3].entries()) {
      // the first may be seen by looking around at the start, those after it by their notice only
      await appendBatch(log, runId, 'p', sequence, [anEvent.turn('t', sequence)]);
      await expect.poll(() => projectedPosition(db.pool, runId), { timeout: 10_000 }).toBe(head);
    }
    await worker.stop();
    await log.close();
  });

  it('let a run that fails rest, tell of it, and carry on with the others', async () => {
    const [bad, good] = [await aRun(db.ownerPool), await aRun(db.ownerPool)];
    const failed: (string | null)[] = [];
    let full = true;
    const put = async (key: string, bytes: Uint8Array) => {
      if (full && key.includes(bad)) throw new Error('the disk is full');
      await store.put(key, bytes);
    };
    const worker = projector({ store: { put }, concurrency: 1, onError: (runId) => failed.push(runId) });
    worker.start();
    await appendEvents(db.pool, bad, [anEvent.whole('t', 1), anEvent.ended()]);
    await expect.poll(() => failed.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await appendEvents(db.pool, good, [anEvent.whole('t', 1), anEvent.ended()]);
    await expect.poll(() => projectedPosition(db.pool, good), { timeout: 10_000 }).toBe(2);
    expect(await projectedPosition(db.pool, bad)).toBe(0);
    full = false;
    await expect.poll(() => projectedPosition(db.pool, bad), { timeout: 10_000 }).toBe(2);
    expect(new Set(failed)).toEqual(new Set([bad]));
    await worker.stop();
  });
});

describe('the work of a chunk', () => {
  it('takes as many statements for a thousand events as for ten', async () => {
    const counts: number[] = [];
    for (const size of [10, 1_000]) {
      const runId = await aRun(db.ownerPool);
      const events = Array.from(
        { length: size },
        (_, i) =>
          [
            anEvent.turn(`t${i}`, 0, { reward: 1 }),
            anEvent.end(`t${i - 1}`),
            anEvent.step(i, { a: 1 }),
            anEvent.annotation(`t${i}`),
          ][i % 4],
      );
      await appendEvents(db.pool, runId, events, size);
      const options = { maxBatches: 64, maxBytes: 1e9, segmentSize: { turns: Infinity, bytes: Infinity }, store };
      await withRun(db.pool, runId, true, async (client) => {
        let count = 0;
        const counting = { query: (sql: string, params?: unknown[]) => (count++, client.query(sql, params)) };
        expect(await projectChunk(counting, runId, options)).toBe(size);
        counts.push(count);
      });
    }
    // 2 for the progress, 1 for the events, 4 to load, 6 to store rows, 2 to store the progress
    expect(counts).toEqual([15, 15]);
  });
});

describe('the read models', () => {
  it('show a project its own runs and no others', async () => {
    const [mine, theirs] = [await aProject(db.ownerPool), await aProject(db.ownerPool)];
    for (const project of [mine, theirs]) {
      const runId = await aRun(db.ownerPool, { project });
      const place = { trainingStep: 3 };
      const events = [
        anEvent.whole('t', 1, { ...place, outcomeReward: 1 }),
        anEvent.annotation('t'),
        anEvent.rewound(1),
      ];
      await appendEvents(db.pool, runId, [...events, anEvent.step(1, { loss: 1 }), anEvent.checkpoint(1)]);
      await projector().projectRun(runId);
    }
    const client = await db.pool.connect();
    for (const [projects, expected] of [
      [mine, 1],
      ['', 0],
      [`${mine},${theirs}`, 2],
    ] as const) {
      await client.query(`select set_config('recredit.projects', $1, false)`, [projects]);
      for (const table of READ_MODEL_TABLES) {
        const { rows } = await client.query(`select count(distinct run_id)::int as runs from ${table}`);
        expect([table, rows[0].runs]).toEqual([table, expected]);
      }
    }
    client.release(true);
  });
});

const KILL = `select pg_terminate_backend(pid) from pg_stat_activity
  where state = 'idle in transaction' and datname = current_database()`;

async function headOf(runId: string): Promise<number> {
  const { rows } = await db.pool.query('select next_position::float8 as head from run_stream where run_id = $1', [
    runId,
  ]);
  return rows[0].head;
}
