import { afterAll, beforeAll, expect, it } from 'vitest';
import { testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

const AT = '2026-11-21T12:00:00Z';
const EVENTS = `query ($from: Position, $first: Int, $after: String) {
  events(run: "logged", from: $from, first: $first, after: $after) {
    edges { node { position type receivedAt trainingStep trajectory turn event } } pageInfo { hasNextPage endCursor }
  }
}`;

let api: TestApi;
let key: string;
let other: string;
let project: string;

beforeAll(async () => {
  api = await testApi();
  project = await aProject(api.db.ownerPool, 'ours');
  key = await api.key(project, 'read');
  other = await api.key(await aProject(api.db.ownerPool, 'theirs'), 'read');
  const run = await aRun(api.db.ownerPool, { project, name: 'logged' });
  for (const turn of [0, 1, 2]) {
    await api.append(run, [
      { type: 'turn.recorded', at: AT, trajectory: 't', group: 'g', trainingStep: 7, turn, state: 's', action: 'a' },
    ]);
  }
  await api.append(run, [
    { type: 'trajectory.ended', at: AT, trajectory: 't', group: 'g', trainingStep: 7, outcomeReward: 1 },
    { type: 'trainingStep.recorded', at: AT, trainingStep: 7, metrics: { loss: 1 } },
  ]);
});

afterAll(() => api?.close());

it('walks the log of a run page by page, each event once and whole', async () => {
  const found: { position: number; type: string; turn: number | null; event: object }[] = [];
  for (let after: string | null = null, hasNextPage = true; hasNextPage;) {
    const { data, errors } = await api.ask(key, EVENTS, { first: 2, after });
    expect(errors).toBeUndefined();
    found.push(...data.events.edges.map(({ node }: { node: (typeof found)[number] }) => node));
    ({ hasNextPage, endCursor: after } = data.events.pageInfo);
    expect(data.events.edges.length).toBeLessThanOrEqual(2);
  }
  expect(found.map(({ position }) => position)).toEqual([0, 1, 2, 3, 4]);
  expect(found.map(({ turn }) => turn)).toEqual([0, 1, 2, null, null]);
  expect(found[3]).toMatchObject({ type: 'trajectory.ended', trajectory: 't', trainingStep: 7 });
  expect(found[4].event).toMatchObject({ type: 'trainingStep.recorded', metrics: { loss: 1 } });
});

it('begins where it is asked to, and is empty behind the end', async () => {
  const from = async (position: number) => (await api.ask(key, EVENTS, { from: position })).data.events.edges;
  expect((await from(4)).map(({ node }: { node: { position: number } }) => node.position)).toEqual([4]);
  expect(await from(5)).toEqual([]);
});

it('says where the log ends, and whether it is as it was acknowledged', async () => {
  const VERIFY = `query ($from: Position) { run(id: "logged") { log { position chainHash erasedPosition } }
    verifyLog(run: "logged", from: $from) { from position batches chainHash isWhole broken { position what } } }`;
  const { data } = await api.ask(key, VERIFY);
  expect(data.run.log).toEqual({
    position: 5,
    chainHash: expect.stringMatching(/^[\da-f]{64}$/),
    erasedPosition: null,
  });
  const { chainHash } = data.run.log;
  expect(data.verifyLog).toEqual({ from: 0, position: 5, batches: 4, chainHash, isWhole: true, broken: null });
  expect((await api.ask(key, VERIFY, { from: 3 })).data.verifyLog).toMatchObject({ from: 3, batches: 1, chainHash });
  expect((await api.ask(key, VERIFY, { from: 4 })).errors).toMatchObject([{ extensions: { code: 'request.invalid' } }]);
});

it('asks as many statements for the heads of two runs as of one', async () => {
  const ask = async (first: number) => {
    api.statements.length = 0;
    const { data } = await api.ask(key, `{ runs(first: ${first}) { edges { node { log { position } } } } }`);
    return { logs: data.runs.edges.map(({ node }: any) => node.log), statements: api.statements.length };
  };
  const one = await ask(1);
  await aRun(api.db.ownerPool, { project, name: 'silent' });
  expect(await ask(2)).toEqual({ logs: [null, { position: 5 }], statements: one.statements });
});

it('knows no run of another project', async () => {
  expect((await api.ask(other, EVENTS)).data).toEqual({ events: null });
  expect((await api.ask(other, '{ verifyLog(run: "logged") { position } }')).data).toEqual({ verifyLog: null });
});
