import { creditPlaces, openCredits } from '#lib/analysis';
import {
  arrowStream,
  creditTable,
  openSegment,
  stepBatch,
  trajectoryTable,
  type StreamColumn,
  type StreamRows,
} from '#lib/columnar';
import { ESTIMATORS } from '#lib/credit';
import { verifyRun } from '#lib/event-log';
import { segmentSlices } from '#lib/projection';
import { expect } from 'vitest';
import type { Answer, TestApi } from './api.js';
import { aProject } from './rows.js';

export interface Sent {
  readonly status: number;
  readonly type: string;
  // a test knows what it asked for
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

/** What a run's content became. */
export interface WholeWay {
  readonly run: string;
  readonly analysis: string;
  /** of the analysis */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly answer: any;
  /** of its trajectories with all they hold, the first of them */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly trajectories: any[];
}

/** The way of content through the platform: ingest by HTTP, projection, segments, all estimators, GraphQL, Arrow. */
export async function wholeWayOf(api: TestApi) {
  const project = await aProject(api.db.ownerPool, 'odd');
  const key = await api.key(project, 'ingest', 'read', 'analyze');
  let runs = 0;

  const createRun = async (name = `odd-${runs++}`): Promise<string> =>
    (await send('/v1/runs', JSON.stringify({ project: 'odd', name }), { 'content-type': 'application/json' })).body.id;

  async function send(url: string, payload: Buffer | string, headers: Record<string, string> = {}): Promise<Sent> {
    const response = await api.app
      .getHttpAdapter()
      .getInstance()
      .inject({ method: 'POST', url, headers: { authorization: `Bearer ${key}`, ...headers }, payload });
    const type = String(response.headers['content-type']);
    return { status: response.statusCode, type, body: type.includes('json') ? response.json() : response.body };
  }

  const append = (run: string, sequence: number, payload: Buffer | string, headers: Record<string, string> = {}) =>
    send(`/v1/runs/${run}/events`, payload, {
      'content-type': 'application/x-ndjson',
      'recredit-producer': 'p',
      'recredit-epoch': '0',
      'recredit-sequence': String(sequence),
      ...headers,
    });

  const ask = async (query: string, variables: object): Promise<Answer['data']> => {
    const answer = await api.ask(key, query, variables);
    expect({ errors: answer.errors, logged: api.logged.splice(0) }).toEqual({ errors: undefined, logged: [] });
    return answer.data;
  };

  /** Follows what a run holds to the end. */
  async function follow(run: string, estimators: readonly object[] = ALL): Promise<WholeWay> {
    expect((await verifyRun(api.db.pool, run)).broken).toBeNull();
    await api.project(run);
    const started = await ask(START, { input: { runs: [{ run }], estimators } });
    const analysis: string = started.startAnalysis.id;
    await api.work(analysis, [run]);
    const { analysis: answer } = await ask(ANALYSIS, { analysis });
    expect(answer).toMatchObject({ state: 'COMPLETED', failure: null, progress: { failed: 0 } });
    const found = await ask(RUN, { run });
    const trajectories = [];
    for (const { node } of found.run.trajectories.edges) {
      const { trajectory } = await ask(TRAJECTORY, { run, id: node.id, analysis });
      expect(trajectory.id).toBe(node.id);
      trajectories.push(trajectory);
    }
    await exported(api, run, analysis);
    return { run, analysis, answer, trajectories };
  }

  return { key, createRun, send, append, ask, follow };
}

const ALL = [
  ...ESTIMATORS.map(({ id }) => ({ id })),
  { id: 'gae', params: { granularity: 'turn' } },
  { id: 'gigpo', params: { enableSimilarity: true, normalizeByStd: true } },
];

/** Both Arrow exports, drained. */
async function exported(api: TestApi, run: string, analysis: string): Promise<void> {
  const slices = await segmentSlices(api.db.pool, run, { first: 0, last: 2 ** 31 - 1 }, Number.MAX_SAFE_INTEGER);
  const steps = [...Map.groupBy(slices, ({ trainingStep }) => trainingStep)];
  const batches = await Promise.all(
    steps.map(async ([trainingStep, parts]) =>
      stepBatch(
        await Promise.all(
          parts.map(async ({ numericKey, textKey }) =>
            openSegment(await api.store.get(numericKey), await api.store.get(textKey)),
          ),
        ),
        { trainingStep, asOf: Number.MAX_SAFE_INTEGER },
      ),
    ),
  );
  const paths = new Set(
    batches.flatMap((batch) => [...batch.columns].flatMap(([path, { kind }]) => (kind === 'number' ? [path] : []))),
  );
  const table = trajectoryTable([...paths]);
  await drained(table.columns, batches.map(table.rowsOf));

  const labels: string[] = [];
  const rows: StreamRows[] = [];
  const credits = creditTable(
    ALL.map(({ id }, i) => (ALL.findIndex((other) => other.id === id) === i ? id : `${id}:2`)),
  );
  const places = await creditPlaces(
    api.db.pool,
    steps.map(([trainingStep]) => ({ analysisId: analysis, runId: run, trainingStep })),
  );
  for (const [i, place] of places.entries()) {
    const files = new Map((await openCredits(api.store, place)).map(({ label, file }) => [label, file]));
    rows.push(credits.rowsOf({ run, trainingStep: steps[i][0], files }));
    labels.push(...files.keys());
  }
  await drained(credits.columns, rows);
  expect(labels.length).toBeGreaterThanOrEqual(steps.length);
}

async function drained(columns: readonly StreamColumn[], rows: readonly StreamRows[]): Promise<void> {
  let bytes = 0;
  for await (const chunk of arrowStream(columns, rows)) bytes += chunk.length;
  expect(bytes).toBeGreaterThan(0);
}

const START = `mutation ($input: StartAnalysisInput!) { startAnalysis(input: $input) { id } }`;
const ANALYSIS = `query ($analysis: ID!) { analysis(id: $analysis) {
  state failure progress { state total done failed }
  estimators { label warnings inputsMissing { path rows of } }
  shards(first: 20) { edges { node { trainingStep state reason trajectoryCount } } }
  comparison { trajectories turns groups groupsWithSignal successRate meanOutcome detail
    estimators { id turns signalDensity mean std withinTrajectoryShare gini effectiveTurns detail }
    pairs { a b n pearson spearman signAgreement detail }
    truths { signal estimator n auc aucLow aucHigh spearman low high detail }
    disputed { run trajectory turn values } } } }`;
const RUN = `query ($run: ID!) { run(id: $run) {
  state position progress { trajectoryCount turnCount groupCount lastTrainingStep successRate meanOutcomeReward lastEventAt }
  signals { level name source rows minimum maximum mean }
  diagnostics { id value reading detail }
  metric(name: "loss") { name count sampled points { trainingStep value } }
  trainingSteps(first: 20) { edges { node { trainingStep trajectoryCount turnCount meanOutcomeReward metrics } } }
  groups(first: 20) { edges { node { name trainingStep trajectoryCount outcomeMin outcomeMax meanOutcomeReward } } }
  trajectories(first: 20) { edges { cursor node { id group trainingStep state outcomeReward success turnCount problems signals parent { trajectory turn } } } } } }`;
const TRAJECTORY = `query ($run: ID!, $id: ID!, $analysis: ID!) { trajectory(run: $run, id: $id) {
  id group trainingStep state outcomeReward success turnCount problems signals parent { trajectory turn }
  turns(first: 20) { edges { node { index state action reward signals tokens
    credit(analysis: $analysis) { estimator credit explain } } } } } }`;
