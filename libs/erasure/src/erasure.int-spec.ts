import { randomBytes } from 'node:crypto';
import { confine, createKey, ensureProject } from '#lib/access';
import { computeShard, planAnalysis, runShard, type ShardAddress, type ShardTask } from '#lib/analysis';
import { comparisonOf, decodeSummary } from '#lib/diagnostics';
import { erasuresOf, verifyRun } from '#lib/event-log';
import { Projector, rebuild } from '#lib/projection';
import type { Pool, SegmentStore } from '#lib/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../test/support/api.js';
import { everythingOf } from '../../projection/src/read-model-rows.builder.js';
import { finishErasure } from './finish-erasure.js';

let api: TestApi;
let admin: string;
let project: string;
beforeAll(async () => {
  api = await testApi();
  admin = await api.key(null, 'admin');
  project = (await ensureProject(confine(api.db.callerPool, '*'), 'p')).id;
});
afterAll(() => api.close());

let runs = 0;

/** A run as a trainer makes it. @returns its id */
async function trained({ steps = 2, bytes = 0 } = {}): Promise<string> {
  const { body } = await http('POST', '/v1/runs', {
    project: 'p',
    name: `run-${++runs}`,
    config: { secret: 'config' },
  });
  for (let step = 0; step < steps; step++) await api.append(body.id, aTrainingStep(step));
  for (const trajectory of bigTrajectories(bytes)) await api.append(body.id, [trajectory]);
  await api.project(body.id);
  return body.id;
}

/** A run of some megabytes whose batches lie in the same partition of the log. */
async function inThePartitionOf(run: string): Promise<string> {
  const partitionOf = async (id: string) => {
    const { rows } = await api.db.ownerPool.query('select tableoid from event_batch where run_id = $1 limit 1', [id]);
    return rows[0].tableoid as number;
  };
  const wanted = await partitionOf(run);
  for (;;) {
    const other = await trained({ bytes: 0 });
    if ((await partitionOf(other)) !== wanted) continue;
    await api.append(other, bigTrajectories(2_000_000));
    await api.project(other);
    return other;
  }
}

/** With texts that do not compress. */
function bigTrajectories(bytes: number): object[] {
  return Array.from({ length: Math.ceil(bytes / 500_000) }, (_, i) => ({
    type: 'trajectory.recorded',
    at: '2026-01-01T00:00:00Z',
    id: `big-${i}`,
    group: 'g0',
    trainingStep: 0,
    outcomeReward: 1,
    turns: [{ state: randomBytes(500_000).toString('base64'), action: 'a' }],
  }));
}

async function http(method: 'POST' | 'GET', url: string, payload?: object, key = admin) {
  const response = await api.app
    .getHttpAdapter()
    .getInstance()
    .inject({ method, url, headers: { authorization: `Bearer ${key}` }, ...(payload && { payload }) });
  return { status: response.statusCode, body: response.json() };
}

const ERASE = `mutation ($run: ID!, $reason: String) { eraseRun(input: {run: $run, reason: $reason}) {
  runId position reason requestedBy rows batches payloadBytes files fileBytes databaseBytes finishedAt } }`;
const erase = (run: string, key = admin) => api.ask(key, ERASE, { run, reason: 'its people asked for it' });
const finish = (run: string, store: SegmentStore = api.store, pool: Pool = api.db.pool) =>
  finishErasure({ pool, owner: api.db.ownerPool, store }, run);

async function analysed(...ids: string[]): Promise<string> {
  const input = { runs: ids.map((run) => ({ run })), estimators: [{ id: 'grpo' }, { id: 'gigpo' }] };
  const { data, errors } = await start(input);
  if (errors) throw new Error(JSON.stringify(errors));
  await api.work(data.startAnalysis.id, ids);
  return data.startAnalysis.id;
}

const start = (input: object) =>
  api.ask(admin, 'mutation ($input: StartAnalysisInput!) { startAnalysis(input: $input) { id } }', { input });

async function logBytes(run: string): Promise<{ payloads: number; partition: number }> {
  const { rows } = await api.db.ownerPool.query(
    `select sum(octet_length(payload))::float8 as payloads,
       (select pg_total_relation_size(tableoid) from event_batch where run_id = $1 limit 1)::float8 as partition
     from event_batch where run_id = $1`,
    [run],
  );
  return rows[0];
}

/** What the diagnosis of a run leaves, as far as it matters here. */
const DIAGNOSED: Record<string, string> = {
  diagnosis: 'insert into diagnosis (run_id, as_of, pending_steps, seconds) values ($1, 1, 0, 0)',
  diagnostic_reading: `insert into diagnostic_reading (run_id, diagnostic, place, reading) values ($1, 'd', 0, '{}')`,
  diagnostic_reading_part: `insert into diagnostic_reading_part (run_id, diagnostic, part, steps, sha256) values ($1, 'd', 0, '[]', '')`,
  diagnostic_figures: `insert into diagnostic_figures (run_id, training_step, revision, members, members_sha256, outcomes) values ($1, 0, 0, '{d 1}', sha256('d 1'), '')`,
  diagnostic_settings: `insert into diagnostic_settings (run_id, version, settings) values ($1, 1, '{}')`,
  audit: `insert into audit (id, run_id, as_of, estimator, version, params, signal, state) values ('u', $1, 1, 'grpo', 1, '{}', 'loggedAdvantage', 'running')`,
  nearest_turns: `insert into nearest_turns (id, run_id, trajectory_id, turn, training_step, group_name, k, within, as_of, state) values ('n', $1, 't', 0, 0, 'g', 5, 'run', 1, 'running')`,
  alert: `insert into alert (id, run_id, diagnostic, rule, level, says, saw, opened_step, opened_as_of) values ('a', $1, 'd', 'r', 'info', 's', '{}', 0, 0)`,
};

async function disputedRuns(analysis: string): Promise<string[] | null> {
  const { rows } = await api.db.pool.query('select comparison from analysis where id = $1', [analysis]);
  const { comparison } = rows[0];
  if (comparison === null) return null;
  const turns = [comparison, ...comparison.pairs].flatMap(({ disputed }) => disputed as { run: string }[]);
  return [...new Set(turns.map(({ run }) => run))].toSorted();
}

/** Of an erased run these tables have rows, and they hold hashes, counts and names of ours. */
const LEFT = new Set([
  'analysis_run',
  'analysis_shard',
  'event_batch',
  'projection_checkpoint',
  'run_erasure',
  'run_progress',
  'run_stream',
]);

/** Every table that speaks of runs. */
async function tablesOfRuns(): Promise<string[]> {
  const { rows } = await api.db.ownerPool.query(
    `select relname::text as name from pg_class join pg_attribute on attrelid = pg_class.oid
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and attname = 'run_id' order by 1`,
  );
  return rows.map(({ name }) => name);
}

describe('an erased run', () => {
  it('has given back its bytes and left nothing but its tombstone; other runs stay as they are', async () => {
    const run = await trained({ bytes: 6_000_000 });
    // it lies behind it in the same files, so that cutting off their ends would give nothing back
    const other = await inThePartitionOf(run);
    const [alone, both] = [await analysed(run), await analysed(run, other)];
    for (const table of Object.keys(DIAGNOSED)) {
      await api.db.ownerPool.query(DIAGNOSED[table], [run]);
    }
    const otherBefore = await everythingOf(api.db.pool, api.store, other);
    const before = await logBytes(run);
    const { chainHash } = await verifyRun(api.db.pool, run);
    const filesBefore = (await api.store.list(`segments/${run}/`)).length;
    const creditBefore = (await api.store.list('credit/')).length;
    expect(before.payloads).toBeGreaterThan(4_500_000);
    expect(filesBefore).toBeGreaterThan(0);

    const { data } = await erase(run);
    expect(data.eraseRun).toMatchObject({ runId: run, reason: 'its people asked for it', finishedAt: null });
    await finish(run);

    const after = await logBytes(run);
    expect(after.payloads).toBeLessThan(200); // run.erased itself
    expect(before.partition - after.partition).toBeGreaterThan(before.payloads * 0.9);
    expect(await api.store.list(`segments/${run}/`)).toEqual([]);
    const { rows: credit } = await api.db.pool.query('select run_id, outcome from credit_result');
    expect(new Set(credit.map((row) => row.run_id))).toEqual(new Set([other]));
    expect(await api.store.list('credit/')).toHaveLength(credit.filter(({ outcome }) => outcome === 'credit').length);
    for (const table of await tablesOfRuns()) {
      const { rowCount } = await api.db.ownerPool.query(`select from ${table} where run_id = $1`, [run]);
      expect([table, rowCount! > 0]).toEqual([table, LEFT.has(table)]);
    }
    expect(await disputedRuns(alone)).toBeNull();
    expect((await disputedRuns(both)) ?? [run]).not.toContain(run);

    const asked = await api.ask(
      admin,
      `query ($run: ID!) { run(id: $run) { state position config trajectories { edges { node { id } } } signals { name }
        erasure { rows batches payloadBytes files fileBytes databaseBytes requestedBy finishedAt } } }`,
      { run },
    );
    const { erasure, ...seen } = asked.data.run;
    const events = (await verifyRun(api.db.pool, run)).events;
    expect(seen).toEqual({ state: 'ERASED', position: events, config: {}, trajectories: { edges: [] }, signals: [] });
    expect(erasure).toMatchObject({
      requestedBy: expect.stringMatching(/^[0-9a-f]{16}$/),
      finishedAt: expect.any(String),
      files: filesBefore + creditBefore - (await api.store.list('credit/')).length,
    });
    expect(erasure.payloadBytes).toBeGreaterThan(before.payloads - 1000);
    expect(erasure.rows).toBeGreaterThan(20);
    expect(erasure.fileBytes).toBeGreaterThan(4_500_000);
    expect(erasure.databaseBytes).toBeGreaterThan(before.payloads * 0.9);

    const verified = await verifyRun(api.db.pool, run);
    expect(verified).toMatchObject({ broken: null, erased: { events: events - 1 } });
    expect(verified.chainHash).not.toBe(chainHash); // run.erased is in it
    expect(await everythingOf(api.db.pool, api.store, other)).toEqual(otherBefore);
    expect(await verifyRun(api.db.pool, other)).toMatchObject({ broken: null, erased: null });
  });

  it('is the same after a rebuild', async () => {
    const run = await trained();
    await erase(run);
    await finish(run);
    const before = await everythingOf(api.db.pool, api.store, run);
    expect(before.tables.run_progress).toHaveLength(1);
    expect(before.tables.trajectory).toEqual([]);
    await rebuild(api.db.pool, api.store, run);
    expect(await everythingOf(api.db.pool, api.store, run)).toEqual(before);
  });

  it('refuses events, its name, analyses, annotations and downloads, each with the same code', async () => {
    const run = await trained();
    await erase(run);
    for (const finished of [false, true]) {
      if (finished) await finish(run);
      await expect(api.append(run, aTrainingStep(9))).rejects.toMatchObject({ code: 'run.erased' });
      const again = await http('POST', '/v1/runs', { project: 'p', name: `run-${runs}`, config: { secret: 'config' } });
      const table = await http('GET', `/v1/runs/${run}/trajectories.arrow`);
      expect([again, table].map(({ status, body }) => [status, body.code])).toEqual([
        [409, 'run.erased'],
        [409, 'run.erased'],
      ]);
      const analysis = await start({ runs: [{ run }], estimators: [{ id: 'grpo' }] });
      const annotation = await api.ask(
        admin,
        `mutation ($run: ID!) { annotate(input: {run: $run, trajectory: "t0-0-0", annotator: "a", signals: {x: 1}}) }`,
        { run },
      );
      for (const { errors } of [analysis, annotation]) expect(errors?.[0].extensions.code).toBe('run.erased');
    }
  });

  it('was erased by an admin key that sees it, and by no other', async () => {
    const run = await trained();
    const db = confine(api.db.callerPool, '*');
    const elsewhere = (await ensureProject(db, 'elsewhere')).id;
    const stranger = (await createKey(db, { projectId: elsewhere, name: 'x', roles: ['admin'] })).text;
    const trainer = await api.key(project, 'ingest', 'read', 'analyze');
    expect((await erase(run, trainer)).errors?.[0].extensions.code).toBe('role.missing');
    expect((await erase(run, stranger)).errors?.[0].extensions.code).toBe('run.unknown');
    expect(await erasuresOf(api.db.pool, [run])).toEqual([]);
    expect((await erase(run, await api.key(project, 'admin'))).errors).toBeUndefined();
    expect((await erase(run, admin)).data.eraseRun.reason).toBe('its people asked for it');
  });
});

describe('erasing', () => {
  it('goes on where it broke off, wherever that was', async () => {
    const run = await trained({ steps: 3 });
    await analysed(run);
    await erase(run);
    const dying = (statement: number): Pool =>
      new Proxy(api.db.pool, {
        get: (pool, name) => {
          if (name !== 'query') return Reflect.get(pool, name);
          return (...args: Parameters<Pool['query']>) =>
            statement-- > 0 ? pool.query(...args) : Promise.reject(new Error('killed'));
        },
      });
    let tries = 0;
    for (let statement = 1; (await erasuresOf(api.db.pool, [run]))[0].finishedAt === null; statement++) {
      await finish(run, api.store, dying(statement)).catch((error: Error) => expect(error.message).toBe('killed'));
      tries++;
    }
    expect(tries).toBeGreaterThan(5);
    expect((await logBytes(run)).payloads).toBeLessThan(200);
    expect(await api.store.list(`segments/${run}/`)).toEqual([]);
    expect(await verifyRun(api.db.pool, run)).toMatchObject({ broken: null, erased: { batches: 6 } });
    expect(await erasuresOf(api.db.pool, [run])).toMatchObject([{ batches: 6 }]);
  });

  it('waits for a projector in the middle of a cut, which leaves no segment behind', async () => {
    const run = await trained();
    await api.append(run, [...aTrainingStep(5), { type: 'run.ended', at: '2026-01-01T00:00:00Z' }]);
    const inPut = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const slow: SegmentStore = Object.assign(Object.create(api.store), {
      put: async (key: string, bytes: Uint8Array) => {
        inPut.resolve();
        await held.promise;
        await api.store.put(key, bytes);
      },
    });
    const projecting = new Projector({ pool: api.db.pool, store: slow }).projectRun(run);
    await inPut.promise;
    await erase(run);
    const erasing = finish(run);
    held.resolve();
    await Promise.all([projecting, erasing]);
    expect(await api.store.list(`segments/${run}/`)).toEqual([]);
    const { rows } = await api.db.pool.query('select state from run_progress where run_id = $1', [run]);
    expect(rows).toEqual([{ state: 'erased' }]);
  });

  it('outruns a shard that is being computed: the analysis fails, says why, and keeps no credit', async () => {
    const run = await trained();
    const { data } = await start({ runs: [{ run }], estimators: [{ id: 'grpo' }] });
    const analysis: string = data.startAnalysis.id;
    await api.project(run);
    const creditBefore = await api.store.list('credit/');
    const shards: ShardAddress[] = [];
    const conclude = async (summary: Uint8Array) => comparisonOf(decodeSummary(summary));
    const ports = { pool: api.db.pool, conclude };
    await planAnalysis({ ...ports, compute: async (planned) => void shards.push(...planned) }, analysis);
    const compute = async (task: ShardTask) => {
      const answer = await computeShard(api.store, task);
      await erase(run);
      await finish(run);
      return answer;
    };
    const discard = async (keys: readonly string[]) =>
      void (await Promise.all(keys.map((key) => api.store.delete(key))));
    await expect(runShard({ ...ports, compute, discard }, shards[0])).rejects.toMatchObject({ code: 'run.erased' });
    await runShard({ ...ports, compute, discard }, shards[1]);
    expect(await api.store.list('credit/')).toEqual(creditBefore);
    const { rows } = await api.db.pool.query('select state, failure from analysis where id = $1', [analysis]);
    expect(rows).toEqual([{ state: 'failed', failure: `run ${run} was erased` }]);
    const results = await api.db.pool.query('select from credit_result where run_id = $1', [run]);
    expect(results.rowCount).toBe(0);
  });
});
