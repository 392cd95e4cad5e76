import type { Pool } from '#lib/storage';
import { withApiHere } from './api-here.js';
import type { BenchRow } from './bench-row.js';
import type { Benchmark, BenchOptions } from './benchmark.js';
import { dashboardDocuments } from './dashboard-documents.js';
import { quantile } from './ingest.bench.js';
import { rateOnce } from './rate.js';
import { analyseRun, diagnoseAndAudit, recordRun, TURNS_OF_GROUP, type RecordedRun } from './recorded-run.js';

/** Groups of a training step. */
const GROUPS = 8;
const TURNS_OF_STEP = GROUPS * TURNS_OF_GROUP;
const TIMES = 100;
const WARM_UPS = 5;
/** As the API is asked when several people look. */
const READERS = 8;
/** What they look at. */
const SHARED: ReadonlySet<string> = new Set(['run', 'group of 64 x 20', 'trajectory', 'WholePlan', 'VerifyLog']);
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

/** Beside the run and the analysis, by query: what a page says of places that grow with the run is near its end. */
function variablesOfPages(
  { id: run, steps, events }: RecordedRun,
  { other, analysis, audit }: { readonly other: string; readonly analysis: string; readonly audit: string },
): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const [last, group] = [steps - 1, 'g0'];
  const trajectory = `${Math.min(last, 5)}-0-0`;
  const compared = { a: run, b: other };
  return {
    Metric: { name: 'loss' },
    TwoRuns: compared,
    TwoMetrics: { ...compared, name: 'loss' },
    Groups: { step: last },
    Rollouts: { step: last, group },
    Paths: { step: 5, group, analysis, credited: true },
    Trajectory: { trajectory },
    Turns: { trajectory: `${last}-0-0` },
    CreditedTurns: { trajectory },
    Tokens: { trajectory },
    TokenCredit: { trajectory },
    Prefix: { trajectory, turns: 20 },
    CreditSample: { x: 'grpo', y: 'gigpo' },
    Audit: { audit },
    Events: { from: events - 50 },
    OneEvent: { position: events - 1 },
    VerifyLog: { from: 0 },
  };
}

/** What every list of a page begins with. */
const FIRST_PAGE = { first: 50, after: null, isFull: true, isCounted: true };

interface Asked {
  readonly ms: readonly number[];
  /** of this process with all its threads, without Postgres: milliseconds per request */
  readonly cpu: number;
  readonly statements: number;
}

/**
 * p50, p99 and processor time of the views of a run, and how many SQL statements each takes, beside the shortest
 * statement there is; of some the p99 for several readers at once.
 */
export const queries: Benchmark = {
  name: 'queries',
  run: ({ turns = 10_000_000 }: BenchOptions = {}) =>
    withApiHere(async ({ app, key, asked, ...recording }) => {
      const { platform, store } = recording;
      const wantedSteps = Math.max(2, Math.round(turns / TURNS_OF_STEP));
      const run = await recordRun(recording, wantedSteps, GROUPS);
      const other = await recordRun(recording, 2, 1);
      const analysis = await analyseRun(platform, store, run);
      const audit = await diagnoseAndAudit(platform, store, run);
      const pages = await dashboardDocuments();
      const views = new Map([...Object.entries(VIEWS), ...pages]);
      const http = app.getHttpAdapter().getInstance();
      const headers = { authorization: `Bearer ${key}` };
      const variablesOf = variablesOfPages(run, { other: other.id, analysis, audit });
      const once = async (view: string): Promise<number> => {
        const variables = { run: run.id, analysis, ...FIRST_PAGE, ...variablesOf[view] };
        const payload = { query: views.get(view), variables };
        const started = performance.now();
        const answer = await http.inject({ method: 'POST', url: '/graphql', headers, payload });
        const ms = performance.now() - started;
        if (answer.statusCode === 200 && !answer.body.includes('"errors"')) return ms;
        throw new Error(`${view}: ${answer.body}`);
      };
      const ask = async (view: string): Promise<Asked> => {
        for (let i = 0; i < WARM_UPS; i++) await once(view);
        const ms: number[] = [];
        const before = process.cpuUsage();
        for (let i = 0; i < TIMES; i++) {
          asked.statements = 0;
          ms.push(await once(view));
        }
        const { user, system } = process.cpuUsage(before);
        return { ms, cpu: (user + system) / 1_000 / TIMES, statements: asked.statements };
      };
      const askTogether = async (view: string): Promise<number[]> => {
        const ms: number[] = [];
        const read = async () => {
          while (ms.length < TIMES) ms.push(await once(view));
        };
        await Promise.all(Array.from({ length: READERS }, read));
        return ms;
      };
      const base = await shortest(platform, run.id);
      const size = `${(run.turns / 1e6).toFixed(1)} M turns`;
      const rows: BenchRow[] = [rowOf(YARDSTICK, base, 'ms', base)];
      for (const view of views.keys()) {
        const { ms, cpu, statements: count } = await ask(view);
        rows.push(
          rowOf(`${view}, p50 (${size})`, quantile(ms, 0.5), 'ms', base),
          rowOf(`${view}, p99`, quantile(ms, 0.99), 'ms', base),
          rowOf(`${view}, processor time`, cpu, 'ms', base),
          rowOf(`${view}, SQL statements`, count, '', 1),
        );
        if (!SHARED.has(view)) continue;
        const together = quantile(await askTogether(view), 0.99);
        rows.push(rowOf(`${view}, p99 of ${READERS} readers`, together, 'ms', base));
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
