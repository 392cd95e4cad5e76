import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Authenticator } from '#lib/access';
import { EventLog, readEvents, sealBatch, verifyRun } from '#lib/event-log';
import { Projector, rebuild } from '#lib/projection';
import type { RunEvent } from '#lib/protocol';
import type { PoolClient, SegmentStore } from '#lib/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../test/support/api.js';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import { everythingOf, memoryStore } from '../../projection/src/read-model-rows.builder.js';
import { backUp } from './back-up.js';
import { readManifest } from './manifest.js';
import { restore } from './restore.js';

let api: TestApi;
let admin: string;
let folder: string;
const databases: TestDatabase[] = [];
beforeAll(async () => {
  api = await testApi();
  admin = await api.key(null, 'admin');
  folder = mkdtempSync(join(tmpdir(), 'recredit-backup-'));
});
afterAll(async () => {
  await api.close();
  for (const database of databases) await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

let folders = 0;
const aFolder = () => join(folder, String(++folders));

async function anEmptyPlatform(): Promise<{ db: TestDatabase; store: SegmentStore }> {
  const db = await testDatabase();
  databases.push(db);
  return { db, store: memoryStore() };
}

const noPlans = async () => {};

/** What a backup must hold, whatever else there is. */
const KEPT_TABLES = [
  'project',
  'run',
  'api_key',
  'run_stream',
  'event_batch',
  'run_erasure',
  'analysis',
  'analysis_run',
  'analysis_shard',
  'credit_result',
  'shard_summary',
];

/** Batches of 20 turn events, one after the other, until told to stop; `acknowledged` grows as the log says so. */
function aProducer(log: EventLog, run: string, producerId: string) {
  const acknowledged: string[] = [];
  const stopping = new AbortController();
  const append = async (sequence: number) => {
    const names = Array.from({ length: 20 }, (_, i) => `${producerId}-${sequence}-${i}`);
    const events = names.map((id) => ({
      type: 'trajectory.recorded',
      at: '2026-01-01T00:00:00Z',
      id,
      group: 'g',
      trainingStep: sequence % 3,
      outcomeReward: 1,
      turns: [{ state: 's', action: 'a' }],
    }));
    const ndjson = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    await log.append(run, await sealBatch({ producerId, epoch: 0, sequence, ndjson, eventCount: 20 }));
    acknowledged.push(...names);
  };
  const working = (async () => {
    for (let sequence = 0; !stopping.signal.aborted; sequence++) await append(sequence);
  })();
  return {
    acknowledged,
    stop: () => {
      stopping.abort();
      return working;
    },
  };
}

async function eventsOf(db: TestDatabase, run: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for (;;) {
    const page = await readEvents(db.pool, run, events.length);
    if (page.length === 0) return events;
    events.push(...page.map(({ event }) => event));
  }
}

describe('a backup while four producers append', () => {
  it('restored elsewhere has every event acknowledged before it once, whole chains, and equal read models', async () => {
    const project = await aProject(api.db.ownerPool);
    const runs = await Promise.all([0, 1].map(() => aRun(api.db.ownerPool, { project })));
    const log = new EventLog(api.db.pool, { notify: false });
    const producers = [0, 1, 2, 3].map((n) => aProducer(log, runs[n % 2], `p${n}`));
    await expect.poll(() => Math.min(...producers.map(({ acknowledged }) => acknowledged.length))).toBeGreaterThan(100);

    const before = producers.map(({ acknowledged }) => [...acknowledged]);
    const target = aFolder();
    const manifest = await backUp(api.db.ownerPool, api.store, target);
    const after = producers.map(({ acknowledged }) => acknowledged.length);
    expect(Math.min(...after.map((count, i) => count - before[i].length))).toBeGreaterThan(0); // they did go on
    await Promise.all(producers.map(({ stop }) => stop()));
    await log.close();

    const { db, store } = await anEmptyPlatform();
    const restored = await restore({ owner: db.ownerPool, store, plan: noPlans }, target);
    expect(restored.events).toBe(manifest.events);
    for (const [n, run] of runs.entries()) {
      expect(await verifyRun(db.pool, run)).toMatchObject({ broken: null });
      const events = await eventsOf(db, run);
      const original = await eventsOf(api.db, run);
      expect(original.length).toBeGreaterThan(events.length);
      expect(events).toEqual(original.slice(0, events.length));
      const ids = events.flatMap((event) => (event.type === 'trajectory.recorded' ? [event.id] : []));
      expect(new Set(ids).size).toBe(ids.length);
      const wanted = before.filter((_, i) => i % 2 === n).flat();
      expect(wanted.filter((id) => !ids.includes(id))).toEqual([]);
      const projector = new Projector({ pool: db.pool, store });
      await projector.projectRun(run);
      const made = await everythingOf(db.pool, store, run);
      await rebuild(db.pool, store, run);
      expect(await everythingOf(db.pool, store, run)).toEqual(made);
    }
  });
});

/** A platform with all that a backup keeps: an analysed run, an erased one, a revoked key, a retention. */
describe('a restored platform', () => {
  let target: string;
  let run: string;
  let analysis: string;
  let open: string;
  beforeAll(async () => {
    const create = async (name: string) => {
      const { body } = await api.app
        .getHttpAdapter()
        .getInstance()
        .inject({
          method: 'POST',
          url: '/v1/runs',
          headers: { authorization: `Bearer ${admin}` },
          payload: { project: 'p', name, config: { a: 1 } },
        });
      const { id } = JSON.parse(body) as { id: string };
      await api.append(id, [...aTrainingStep(0), ...aTrainingStep(1)]);
      await api.project(id);
      return id;
    };
    const start = async (estimator: string) => {
      const input = { runs: [{ run }], estimators: [{ id: estimator }] };
      const { data } = await api.ask(
        admin,
        'mutation ($input: StartAnalysisInput!) { startAnalysis(input: $input) { id } }',
        { input },
      );
      return data.startAnalysis.id as string;
    };
    run = await create('analysed');
    analysis = await start('grpo');
    await api.work(analysis, [run]);
    open = await start('gigpo');
    await api.project(run);
    await api.ask(admin, 'mutation ($run: ID!) { eraseRun(input: {run: $run}) { position } }', {
      run: await create('erased'),
    });
    await api.ask(admin, 'mutation { setRetention(project: "p", days: 30) { id } }');
    target = aFolder();
    await backUp(api.db.ownerPool, api.store, target);
  });

  it('is the same, row for row, answers its keys, and takes up what was under way', async () => {
    const { db, store } = await anEmptyPlatform();
    const planned: string[] = [];
    const plan = async (ids: readonly string[], client: PoolClient) => {
      expect((await client.query('select from run')).rowCount).toBeGreaterThan(0); // in the same transaction
      planned.push(...ids);
    };
    const { manifest } = await restore({ owner: db.ownerPool, store, plan }, target);
    expect(planned).toEqual([open]);
    for (const table of KEPT_TABLES) {
      const text = `select ${table}::text as row from ${table} order by 1`;
      const [ours, theirs] = [await db.ownerPool.query(text), await api.db.ownerPool.query(text)];
      expect(ours.rows, table).toEqual(theirs.rows);
      expect(ours.rows.length, table).toBeGreaterThan(0);
    }
    expect(manifest.credit.count).toBeGreaterThan(0);
    for (const key of await api.store.list('credit/')) expect(await store.get(key)).toEqual(await api.store.get(key));
    expect(await store.list('credit/')).toEqual(await api.store.list('credit/'));
    expect(await new Authenticator(db.callerPool).authenticate(`Bearer ${admin}`)).toMatchObject({ projects: '*' });
    await new Projector({ pool: db.pool, store }).projectRun(run);
    expect((await everythingOf(db.pool, store, run)).tables).toEqual(
      (await everythingOf(api.db.pool, api.store, run)).tables,
    );
  });

  it('computes anew the credit whose file the backup did not find', async () => {
    const elsewhere = aFolder();
    const [lost] = await api.store.list('credit/');
    const store: Pick<SegmentStore, 'get' | 'exists'> = {
      get: (key) => api.store.get(key),
      exists: async (key) => key !== lost && api.store.exists(key),
    };
    const { credit } = await backUp(api.db.ownerPool, store, elsewhere);
    expect(credit.missing).toHaveLength(1);
    const target = await anEmptyPlatform();
    await restore({ owner: target.db.ownerPool, store: target.store, plan: noPlans }, elsewhere);
    expect(await target.store.list('credit/')).toHaveLength(credit.count);
    const { rows } = await target.db.ownerPool.query('select from credit_result where key = any ($1)', [
      credit.missing,
    ]);
    expect(rows).toEqual([]);
  });

  /** Nothing at all is in it. */
  async function expectEmpty(db: TestDatabase, store: SegmentStore): Promise<void> {
    for (const table of KEPT_TABLES) {
      expect((await db.ownerPool.query(`select from ${table}`)).rowCount, table).toBe(0);
    }
    expect(await store.list('')).toEqual([]);
  }

  function damagedCopy(damage: (copy: string) => void): string {
    const copy = mkdtempSync(join(folder, 'damaged-'));
    for (const name of readdirSync(target)) copyFileSync(join(target, name), join(copy, name));
    damage(copy);
    return copy;
  }

  it('is refused where one byte of any file of the backup differs, and stays empty', async () => {
    const { db, store } = await anEmptyPlatform();
    const ports = { owner: db.ownerPool, store, plan: noPlans };
    const names = readdirSync(target);
    expect(names).toEqual(
      expect.arrayContaining([
        ...KEPT_TABLES.map((table) => `${table}.copy`),
        'credit.files',
        'manifest.json',
        'manifest.sha256',
      ]),
    );
    expect(names).not.toContain('trajectory.copy'); // made again
    for (const name of names) {
      const copy = damagedCopy((copy) => {
        const bytes = readFileSync(join(copy, name));
        bytes[Math.floor(bytes.length / 2)] ^= 1;
        writeFileSync(join(copy, name), bytes);
      });
      await expect(restore(ports, copy), name).rejects.toMatchObject({ code: 'backup.damaged' });
    }
    await expectEmpty(db, store);
  });

  it.each([
    ['a file is missing', (copy: string) => rmSync(join(copy, 'event_batch.copy')), 'event_batch.copy is missing'],
    ['a file ends early', (copy: string) => truncateSync(join(copy, 'event_batch.copy'), 100), 'bytes were written'],
    ['it was not finished', (copy: string) => rmSync(join(copy, 'manifest.json')), 'not finished'],
  ])('is refused where %s', async (_, damage, why) => {
    const { db, store } = await anEmptyPlatform();
    await expect(restore({ owner: db.ownerPool, store, plan: noPlans }, damagedCopy(damage))).rejects.toThrow(why);
    await expectEmpty(db, store);
  });

  it('is refused by a platform that is not empty, was migrated otherwise, or whose chain does not hold', async () => {
    const { db, store } = await anEmptyPlatform();
    const ports = { owner: db.ownerPool, store, plan: noPlans };
    await db.ownerPool.query(
      `insert into schema_migration (timestamp, name) values (9999999999999, 'Later9999999999999')`,
    );
    await expect(restore(ports, target)).rejects.toMatchObject({
      code: 'backup.refused',
      message: expect.stringContaining('Later9999999999999'),
    });
    await db.ownerPool.query(`delete from schema_migration where name = 'Later9999999999999'`);
    await expectEmpty(db, store);
    const project = await aProject(db.ownerPool);
    await expect(restore(ports, target)).rejects.toMatchObject({
      code: 'backup.refused',
      message: expect.stringContaining('found 1 project'),
    });
    await db.ownerPool.query('delete from project where id = $1', [project]);

    const client = await api.db.ownerPool.connect();
    await client.query('set session_replication_role = replica');
    const change = (from: string, to: string) =>
      client.query(
        `update event_batch set producer_id = $2, payload_sha256 = sha256($3) where run_id = $1 and producer_id = $4`,
        [run, to, to, from],
      );
    const { rows } = await client.query(
      `select first_position, payload_sha256 from event_batch where run_id = $1 and producer_id = 'p'`,
      [run],
    );
    await change('p', 'forged');
    const forged = aFolder();
    await backUp(api.db.ownerPool, api.store, forged);
    await client.query(
      `update event_batch set producer_id = 'p', payload_sha256 = $2 where run_id = $1 and producer_id = 'forged'`,
      [run, rows[0].payload_sha256],
    );
    await client.query('reset session_replication_role');
    client.release();
    await expect(restore(ports, forged)).rejects.toMatchObject({
      code: 'backup.damaged',
      message: expect.stringContaining(`run ${run}`),
    });
    await expectEmpty(db, store);
  });

  it('leaves nothing where putting a credit file fails', async () => {
    const { db } = await anEmptyPlatform();
    const store = { put: () => Promise.reject(new Error('disk full')) };
    await expect(restore({ owner: db.ownerPool, store, plan: noPlans }, target)).rejects.toThrow('disk full');
    await expectEmpty(db, memoryStore());
  });
});

describe('a backup', () => {
  it('goes into an empty folder, and leaves none behind when it fails', async () => {
    const target = aFolder();
    const failing = { exists: async () => true, get: () => Promise.reject(new Error('unreadable')) };
    await expect(backUp(api.db.ownerPool, failing, target)).rejects.toThrow('unreadable');
    expect(readdirSync(target)).toEqual([]);
    await backUp(api.db.ownerPool, api.store, target);
    const { tables } = await readManifest(target);
    expect(tables.map(({ table }) => table)).toEqual(expect.arrayContaining(KEPT_TABLES));
    await expect(backUp(api.db.ownerPool, api.store, target)).rejects.toMatchObject({ code: 'backup.refused' });
    expect(existsSync(join(target, 'manifest.json'))).toBe(true);
  });

  it('holds no key, only hashes', async () => {
    const target = aFolder();
    await backUp(api.db.ownerPool, api.store, target);
    const [, , secret] = admin.split('_');
    for (const name of readdirSync(target)) expect(readFileSync(join(target, name)).includes(secret)).toBe(false);
  });
});
