import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

const STEPS = 5;

let api: TestApi;
let key: string;
let run: string;
let analyses: string[];

const data = async (query: string, variables?: object) => {
  const answer = await api.ask(key, query, variables);
  expect(answer.errors).toBeUndefined();
  return answer.data;
};

beforeAll(async () => {
  api = await testApi();
  key = await api.key(null, 'admin');
  const projects = [];
  for (const name of ['a', 'b', 'c', 'd', 'e']) projects.push(await aProject(api.db.ownerPool, name));
  const runs = [];
  for (let i = 0; i < 6; i++) runs.push(await aRun(api.db.ownerPool, { project: projects[0], name: `run ${i}` }));
  run = runs[0];
  for (const project of projects.slice(1)) await aRun(api.db.ownerPool, { project });
  for (let step = 0; step < STEPS; step++) await api.append(run, aTrainingStep(step, { groups: 5, turns: 5 }));
  for (const other of runs.slice(1)) await api.append(other, aTrainingStep(0, { groups: 3 }));
  for (const each of runs) await api.project(each);
  analyses = [];
  for (let i = 0; i < 5; i++) {
    const { startAnalysis } = await data(
      `mutation ($runs: [RunAsOfInput!]!) { startAnalysis(input: { runs: $runs, estimators: [{ id: "grpo" }] }) { id } }`,
      { runs: runs.map((id) => ({ run: id })) },
    );
    analyses.push(startAnalysis.id);
    await api.work(startAnalysis.id, runs);
  }
  // as if all had been made in the same instant
  for (const table of ['run', 'analysis', 'api_key', 'project']) {
    await api.db.ownerPool.query(`update ${table} set created_at = '2026-11-21T12:00:00.123Z'`);
  }
  for (let i = 0; i < 4; i++) await api.key(projects[0], 'read');
  await api.db.ownerPool.query(`update api_key set created_at = '2026-11-21T12:00:00.123Z'`);
});

afterAll(() => api?.close());

/** Where a list is, and how a row of it is named. */
const LISTS: readonly [name: string, at: (page: string) => string, node: string, count: () => number][] = [
  ['projects', (page) => `projects(${page})`, 'id', () => 5],
  ['runs', (page) => `runs(${page})`, 'id', () => 10],
  ['runs of a project', (page) => `project(name: "a") { runs(${page})`, 'id', () => 6],
  ['trainingSteps', (page) => `run(id: "run 0") { trainingSteps(${page})`, 'trainingStep', () => STEPS],
  ['groups', (page) => `run(id: "run 0") { groups(${page})`, 'trainingStep name', () => 5 * STEPS],
  ['groups of a step', (page) => `run(id: "run 0") { groups(trainingStep: 3, ${page})`, 'trainingStep name', () => 5],
  ['trajectories', (page) => `run(id: "run 0") { trajectories(${page})`, 'id', () => 10 * STEPS],
  [
    'trajectories of a filter',
    (page) => `run(id: "run 0") { trajectories(filter: { success: true }, ${page})`,
    'id',
    () => 5 * STEPS,
  ],
  ['turns', (page) => `trajectory(run: "run 0", id: "t0-0-0") { turns(${page})`, 'index', () => 5],
  ['analyses', (page) => `run(id: "run 0") { analyses(${page})`, 'id', () => 5],
  ['shards', (page) => `analysis(id: "${analyses[0]}") { shards(${page})`, 'run trainingStep', () => STEPS + 5],
  ['apiKeys', (page) => `apiKeys(${page})`, 'id', () => 5],
];

describe.each(LISTS)('%s', (_name, at, node, count) => {
  const page = async (size: number, after: string | null) => {
    const list = at(`first: ${size}, after: ${JSON.stringify(after)}`);
    const open = list.split('{').length - list.split('}').length;
    const found = await data(
      `{ ${list} { edges { cursor node { ${node} } } pageInfo { hasNextPage endCursor } } ${'}'.repeat(open)} }`,
    );
    let connection = found;
    while (!connection.edges) [connection] = Object.values<any>(connection);
    return connection;
  };

  it.each([1, 2, 3])('is walked through all its pages of %i, each row once', async (size) => {
    const rows: string[] = [];
    let after: string | null = null;
    for (let more = true; more;) {
      const { edges, pageInfo } = await page(size, after);
      rows.push(...edges.map((edge: any) => JSON.stringify(edge.node)));
      expect(pageInfo.endCursor).toBe(edges.at(-1)?.cursor ?? null);
      expect(edges.length === size || !pageInfo.hasNextPage).toBe(true);
      after = pageInfo.endCursor;
      more = pageInfo.hasNextPage;
    }
    expect(rows).toHaveLength(count());
    expect(new Set(rows).size).toBe(rows.length);
    const whole = await page(100, null);
    expect(whole.edges.map((edge: any) => JSON.stringify(edge.node))).toEqual(rows);
    expect(whole.pageInfo.hasNextPage).toBe(false);
  });

  it('refuses a page that is none, and a cursor of another list', async () => {
    for (const size of ['-1', '0', '501']) {
      const list = at(`first: ${size}`);
      const open = list.split('{').length - list.split('}').length;
      const answer = await api.ask(key, `{ ${list} { edges { cursor } } ${'}'.repeat(open)} }`);
      expect(answer.errors?.map(({ extensions }) => extensions.code)).toEqual(['query.invalid']);
    }
    for (const cursor of [
      '',
      'x',
      Buffer.from('[{}]').toString('base64url'),
      Buffer.from('[1,2,3]').toString('base64url'),
    ]) {
      const list = at(`after: "${cursor}"`);
      const open = list.split('{').length - list.split('}').length;
      const answer = await api.ask(key, `{ ${list} { edges { cursor } } ${'}'.repeat(open)} }`);
      expect(answer.errors?.map(({ extensions }) => extensions.code)).toEqual(['query.invalid']);
    }
  });
});

it('null is as good as not said', async () => {
  const query = `query ($first: Int, $after: String) { runs(first: $first, after: $after, project: null) { edges { node { id
    groups(first: null, after: null, trainingStep: null) { edges { node { name } } } } } } }`;
  for (const variables of [{}, { first: null, after: null }]) {
    const found = await data(query, variables);
    expect(found.runs.edges).toHaveLength(10);
  }
});

it('a bad page does not spoil the good one beside it', async () => {
  const page = (first: number) => `run(id: "run 0") { groups(first: ${first}) { edges { node { name } } } }`;
  const { data: found, errors } = await api.ask(key, `{ good: ${page(1)} bad: ${page(0)} }`);
  expect(found).toEqual({ good: { groups: { edges: [{ node: { name: 'g0' } }] } }, bad: null });
  expect(errors).toMatchObject([{ path: ['bad', 'groups'], extensions: { code: 'query.invalid' } }]);
});

describe('a page costs as many statements as a row', () => {
  const RUN = `progress { position } state position signals { name } trainingSteps(first: 2) { edges { node { trainingStep metrics } } }
    metric(name: "loss", points: 10) { count } groups(first: 2) { edges { node { name } } }
    trajectories(first: 2) { edges { node { id } } } analyses(first: 2) { edges { node { id } } } diagnostics { id }`;
  const ANALYSIS = `id progress { done } asOf runs { run } estimators { id inputsMissing { path } } comparison { turns } shards(first: 2) { edges { node { state } } }`;
  it.each<[string, (first: number) => string, number]>([
    ['runs', (first) => `runs(first: ${first}) { edges { node { ${RUN} } } }`, 9],
    [
      'runs of projects',
      (first) => `projects(first: ${first}) { edges { node { runs(first: ${first}) { edges { node { ${RUN} } } } } } }`,
      10,
    ],
    [
      'groups, trajectories, turns, credit',
      (first) =>
        `run(id: "run 0") { groups(first: ${first * 4}) { edges { node { name trajectories(first: ${first}) { edges { node { id turns(first: ${first}) { edges { node { state credit(analysis: "${analyses[0]}") { credit } } } } } } } } } } }`,
      // run, groups, trajectories, where their turns lie, the turns, where their credit lies
      6,
    ],
    ['analyses', (first) => `run(id: "run 0") { analyses(first: ${first}) { edges { node { ${ANALYSIS} } } } }`, 7],
  ])('%s', async (_name, query, count) => {
    const counts = [];
    for (const first of [1, 2, 5, 5, 5]) {
      api.statements.length = 0;
      const found = await data(`{ ${query(first)} }`);
      expect(JSON.stringify(found).length).toBeGreaterThan(50);
      counts.push(api.statements.length);
    }
    expect(counts).toEqual(Array(5).fill(count));
  });
});

it('credit of turns in many shards is read, each from its own', async () => {
  const found = await data(
    `query ($analysis: ID!) { run(id: "run 0") { trajectories(first: 50) { edges { node { id success turns(first: 5) { edges { node { credit(analysis: $analysis) { estimator credit } } } } } } } } }`,
    { analysis: analyses[0] },
  );
  const nodes = found.run.trajectories.edges.map(({ node }: any) => node);
  expect(nodes).toHaveLength(50);
  for (const { success, turns } of nodes) {
    for (const { node } of turns.edges) expect(node.credit[0].credit * (success ? 1 : -1)).toBeCloseTo(Math.SQRT1_2, 3);
  }
});
