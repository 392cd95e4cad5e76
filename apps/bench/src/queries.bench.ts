import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createApi } from '#app/api';
import { Authenticator, confine, createKey } from '#lib/access';
import { computeShard, planAnalysis, runShard, startAnalysis, type ShardAddress } from '#lib/analysis';
import { comparisonOf, decodeSummary } from '#lib/diagnostics';
import { EventLog, sealBatch } from '#lib/event-log';
import { newId } from '#lib/kernel';
import { Projector } from '#lib/projection';
import { openPool, openSegmentStore, type Pool, type SegmentStore } from '#lib/storage';
import { pino } from 'pino';
import { withDatabase } from './bench-database.js';
import type { BenchRow } from './bench-row.js';
import type { Benchmark, BenchOptions } from './benchmark.js';
import { quantile } from './ingest.bench.js';
import { madeRecords, ndjsonOf } from './made-records.js';
import { rateOnce } from './rate.js';

const GROUP = 64;
const TURNS = 20;
/** Groups of a training step. */
const GROUPS = 8;
const TURNS_OF_STEP = GROUPS * GROUP * TURNS;
const TIMES = 100;
const YARDSTICK = 'the primary key of one trajectory';

const VIEWS: Readonly<Record<string, string>> = {
  runs: '{ runs(first: 50) { edges { node { id name state position progress { trajectoryCount successRate } } } } }',
  run: `query ($run: ID!) { run(id: $run) { name position progress { trajectoryCount turnCount successRate }
    trainingSteps(first: 50) { edges { node { trainingStep successRate metrics } } } signals { name rows mean } } }`,
  'group of 64 x 20': `query ($run: ID!, $analysis: ID!) { run(id: $run) { trajectories(filter: { trainingStep: 1, group: "g0" }, first: 64) {
    edges { node { id outcomeReward turns(first: 20) { edges { node { index state action reward credit(analysis: $analysis) { estimator credit } } } } } } } } }`,
  trajectory: `query ($run: ID!, $analysis: ID!) { trajectory(run: $run, id: "1-0-0") { outcomeReward
    turns(first: 20) { edges { node { index state action reward signals credit(analysis: $analysis) { estimator credit } } } } } }`,
  comparison: 'query ($analysis: ID!) { analysis(id: $analysis) { state comparison { detail } } }',
};

interface Asked {
  readonly ms: readonly number[];
  readonly statements: number;
}

/** p50 and p99 of the views of a run, and how many SQL statements each takes; beside the shortest statement there is. */
export const queries: Benchmark = {
  name: 'queries',
  run: ({ turns = 10_000_000 }: BenchOptions = {}) =>
    withDatabase(async (url) => {
      const folder = await mkdtemp(join(tmpdir(), 'recredit-bench-'));
      const owner = openPool(url, { size: 2 });
      const platform = openPool(url, { role: 'recredit_app', projects: '*', size: 8 });
      const pool = openPool(url, { role: 'recredit_app', size: 8 });
      const log = new EventLog(platform, { notify: false });
      let statements = 0;
      pool.on('connect', (client) => {
        const query = client.query.bind(client) as (...args: unknown[]) => unknown;
        client.query = ((...args: unknown[]) => {
          statements++;
          return query(...args);
        }) as typeof client.query;
      });
      const store = await openSegmentStore(pathToFileURL(folder).href);
      const queue = { enqueue: async () => 0, depths: async () => [] };
      const ports = { pool, platform, log, store, queue, authenticator: new Authenticator(pool) };
      const app = await createApi(ports, pino({ level: 'silent' }));
      try {
        const { text: key } = await createKey(confine(pool, '*'), { projectId: null, name: 'bench', roles: ['admin'] });
        const run = await recorded({ owner, log, platform, store }, turns);
        const analysis = await analysed(platform, store, run);
        const http = app.getHttpAdapter().getInstance();
        const headers = { authorization: `Bearer ${key}` };
        const once = async (view: string): Promise<number> => {
          const payload = { query: VIEWS[view], variables: { run: run.id, analysis } };
          const started = performance.now();
          const answer = await http.inject({ method: 'POST', url: '/graphql', headers, payload });
          const ms = performance.now() - started;
          if (answer.statusCode === 200 && !answer.body.includes('"errors"')) return ms;
          throw new Error(`${view}: ${answer.body}`);
        };
        const ask = async (view: string): Promise<Asked> => {
          const ms: number[] = [];
          for (let i = 0; i < TIMES; i++) {
            statements = 0;
            ms.push(await once(view));
          }
          return { ms: ms.slice(5), statements };
        };
        const base = await shortest(platform, run.id);
        const size = `${(run.turns / 1e6).toFixed(1)} M turns`;
        const rows: BenchRow[] = [rowOf(YARDSTICK, base, 'ms', base)];
        for (const view of Object.keys(VIEWS)) {
          const { ms, statements: count } = await ask(view);
          rows.push(
            rowOf(`${view}, p50 (${size})`, quantile(ms, 0.5), 'ms', base),
            rowOf(`${view}, p99`, quantile(ms, 0.99), 'ms', base),
            rowOf(`${view}, SQL statements`, count, '', 1),
          );
        }
        const steps = Math.min(run.steps, Math.ceil(1_000_000 / TURNS_OF_STEP));
        const address = `/v1/runs/${run.id}/trajectories.arrow?steps=0..${steps - 1}`;
        const listening = await app.listen(0, '127.0.0.1').then(() => app.getUrl());
        let bytes = 0;
        const state = { isOver: false };
        const exporting = rateOnce(1, async () => {
          const response = await fetch(`${listening}${address}`, { headers });
          for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).length;
        }).finally(() => (state.isOver = true));
        const meanwhile: number[] = [];
        while (!state.isOver) meanwhile.push(await once('trajectory'));
        const seconds = 1 / (await exporting);
        const exported = `Arrow export of ${steps * TURNS_OF_STEP} turns, ${Math.round(bytes / 2 ** 20)} MiB`;
        rows.push(
          rowOf(exported, seconds, 's', 1),
          rowOf('trajectory, p99 meanwhile', quantile(meanwhile, 0.99), 'ms', base),
        );
        return rows;
      } finally {
        await app.close();
        await log.close();
        await Promise.all([pool.end(), platform.end(), owner.end()]);
        await rm(folder, { recursive: true, force: true });
      }
    }),
};

function rowOf(name: string, value: number, unit: string, base: number): BenchRow {
  return { name, value: Math.round(value * 100) / 100, unit, yardstick: YARDSTICK, ratio: value / base };
}

async function shortest(platform: Pool, run: string): Promise<number> {
  const ms: number[] = [];
  for (let i = 0; i < TIMES; i++) {
    const started = performance.now();
    await platform.query('select outcome_reward from trajectory where run_id = $1 and id = $2', [run, '1-0-0']);
    ms.push(performance.now() - started);
  }
  return quantile(ms, 0.5);
}

interface Recording {
  readonly owner: Pool;
  readonly platform: Pool;
  readonly log: EventLog;
  readonly store: SegmentStore;
}

/** A run of whole trajectories: 8 groups of 64 x 20 turns in each training step, projected. */
async function recorded({ owner, platform, log, store }: Recording, turns: number) {
  const [project, run] = [newId(), newId()];
  await owner.query('insert into project (id, name) values ($1, $1)', [project]);
  await owner.query('insert into run (id, project_id, name) values ($1, $2, $1)', [run, project]);
  const steps = Math.max(2, Math.round(turns / TURNS_OF_STEP));
  const made = madeRecords(GROUPS * GROUP);
  const at = new Date(0).toISOString();
  const projector = new Projector({ pool: platform, store });
  for (let step = 0, sequence = 0; step < steps; step++) {
    for (let group = 0; group < GROUPS; group++, sequence++) {
      const events = made.slice(group * GROUP, (group + 1) * GROUP).map((record, i) => ({
        type: 'trajectory.recorded',
        at,
        ...record,
        turns: [...record.turns, ...record.turns].slice(0, TURNS),
        id: `${step}-${group}-${i}`,
        group: `g${group}`,
        trainingStep: step,
      }));
      const ndjson = ndjsonOf(events);
      await log.append(
        run,
        await sealBatch({ producerId: 'b', epoch: 0, sequence, ndjson, eventCount: events.length }),
      );
    }
    if (step % 20 === 19) await projector.projectRun(run);
  }
  await projector.projectRun(run);
  await projector.stop();
  return { id: run, project, steps, turns: steps * TURNS_OF_STEP };
}

async function analysed(platform: Pool, store: SegmentStore, run: { readonly id: string; readonly project: string }) {
  const estimators = ['grpo', 'gigpo', 'rloo'].map((id) => ({ id }));
  const request = { runs: [{ id: run.id }], estimators, steps: { from: 0, to: 9 } };
  const analysis = await startAnalysis({ pool: platform, plan: async () => {} }, run.project, request);
  const projector = new Projector({ pool: platform, store });
  await projector.projectRun(run.id);
  const waiting: ShardAddress[] = [];
  const conclude = async (summary: Uint8Array) => comparisonOf(decodeSummary(summary));
  await planAnalysis({ pool: platform, conclude, compute: async (shards) => void waiting.push(...shards) }, analysis);
  const discard = async (keys: readonly string[]) => void (await Promise.all(keys.map((key) => store.delete(key))));
  const ports = {
    pool: platform,
    conclude,
    discard,
    compute: (task: Parameters<typeof computeShard>[1]) => computeShard(store, task),
  };
  for (const shard of waiting) await runShard(ports, shard);
  await projector.stop();
  return analysis;
}
