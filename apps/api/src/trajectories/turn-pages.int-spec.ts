import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

let api: TestApi;
let key: string;
let analysis: string;

/** The first time GraphQL walks the query, later it would run what was compiled of it. */
async function thrice(query: string, variables: object = {}) {
  const answers = [];
  for (let i = 0; i < 3; i++) answers.push(await api.ask(key, query, { analysis, ...variables }));
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
  return answers[0];
}

beforeAll(async () => {
  api = await testApi();
  const project = await aProject(api.db.ownerPool, 'ours');
  const run = await aRun(api.db.ownerPool, { project, name: 'r' });
  key = await api.key(project, 'read', 'analyze');
  await api.append(run, aTrainingStep(0));
  const at = '2026-11-21T12:00:00Z';
  const turn = { type: 'turn.recorded', at, trajectory: 'odd', group: 'g9', trainingStep: 1 };
  await api.append(run, [
    { ...turn, turn: 0, state: 'hall', action: 'look', reward: 'much' },
    { ...turn, turn: 1, state: 'hall', action: 'wait', reward: 0.5 },
  ]);
  await api.project(run);
  const started = await api.ask(
    key,
    'mutation ($run: ID!) { startAnalysis(input: { runs: [{ run: $run }], estimators: [{ id: "grpo" }] }) { id } }',
    { run },
  );
  analysis = started.data.startAnalysis.id;
  await api.work(analysis, [run]);
});

afterAll(() => api?.close());

it('answers pages of turns by whatever names, in fragments, and what is asked for on conditions', async () => {
  const { data } = await thrice(
    `query ($analysis: ID!, $isCredited: Boolean!) { run(id: "r") { trajectories(first: 1) { edges { node { id ...Page
       last: turns(first: 1, after: "WzFd") { edges { cursor node { index } } pageInfo { hasNextPage endCursor } }
       turns(first: 2) { edges { node { state credit(analysis: $analysis) @include(if: $isCredited) { estimator } } } } } } } }
       none: trajectory(run: "r", id: "nobody") { turns { edges { node { index } } } } }
     fragment Page on Trajectory { turns(first: 2) { __typename edges { node { i: index ... on Turn { j: index } credit(analysis: $analysis) @skip(if: $isCredited) { level } } } } }`,
    { isCredited: true },
  );
  const [{ node }] = data.run.trajectories.edges;
  expect(data.none).toBeNull();
  expect(node.last).toEqual({
    edges: [{ cursor: 'WzJd', node: { index: 2 } }],
    pageInfo: { hasNextPage: false, endCursor: 'WzJd' },
  });
  expect(node.turns).toMatchObject({
    __typename: 'TurnConnection',
    edges: [0, 1].map((i) => ({ node: { i, j: i, credit: [{ estimator: 'grpo' }] } })),
  });
  expect(typeof node.turns.edges[0].node.state).toBe('string');
});

it('says which value is wrong, and answers the rest', async () => {
  const { status, data, errors } = await thrice(
    '{ trajectory(run: "r", id: "odd") { turns { edges { node { reward action } } } } }',
  );
  expect(status).toBe(200);
  const nodes = data.trajectory.turns.edges.map(({ node }: any) => node);
  expect(nodes).toEqual([
    { reward: null, action: 'look' },
    { reward: 0.5, action: 'wait' },
  ]);
  expect(errors).toHaveLength(1);
  expect(errors![0].path?.map(String)).toEqual(['trajectory', 'turns', 'edges', '0', 'node', 'reward']);
});

it('refuses variables that are wrong each time', async () => {
  const query = 'query ($n: Int) { trajectory(run: "r", id: "odd") { turns(first: $n) { edges { node { index } } } } }';
  const { status, errors } = await thrice(query, { n: 'two' });
  expect({ status, code: errors![0].extensions.code }).toEqual({ status: 400, code: 'query.invalid' });
});

it('says whose credit is lost', async () => {
  const query = `query ($analysis: ID!) { run(id: "r") { trajectories(first: 2) { edges { node { turns { edges { node { credit(analysis: $analysis) { credit } } } } } } } } }`;
  const [credit, lost] = [join(api.folder, 'credit'), join(api.folder, 'lost')];
  await rename(credit, lost);
  const { data, errors } = await thrice(query);
  await rename(lost, credit);
  expect(data).toEqual({ run: null });
  expect(errors![0].extensions.code).toBe('segment.damaged');
  const path = ['run', 'trajectories', 'edges', '0', 'node', 'turns', 'edges', '0', 'node', 'credit'];
  expect(errors![0].path?.map(String)).toEqual(path);
  expect((await thrice(query)).errors).toBeUndefined();
});
