import { afterAll, beforeAll, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

let api: TestApi;
let key: string;
let run: string;

beforeAll(async () => {
  api = await testApi();
  const project = await aProject(api.db.ownerPool);
  key = await api.key(project, 'read', 'analyze');
  run = await aRun(api.db.ownerPool, { project, name: 'r' });
  await api.append(run, aTrainingStep(0));
  await api.project(run);
});

afterAll(() => api?.close());

const annotate = (input: object) =>
  api.ask(key, 'mutation ($input: AnnotateInput!) { annotate(input: $input) }', {
    input: { run: 'r', trajectory: 't0-0-0', annotator: 'ann', signals: { humanLabel: 1 }, ...input },
  });

async function truths(): Promise<unknown> {
  const { data } = await api.ask(
    key,
    'mutation { startAnalysis(input: { runs: [{ run: "r" }], estimators: [{ id: "grpo" }] }) { id } }',
  );
  await api.work(data.startAnalysis.id, [run]);
  const found = await api.ask(key, 'query ($id: ID!) { analysis(id: $id) { comparison { truths { signal n } } } }', {
    id: data.startAnalysis.id,
  });
  return found.data.analysis.comparison.truths;
}

it('what is annotated is seen among the signals and in the next analysis, not in the last', async () => {
  expect(await truths()).toEqual([{ signal: 'exactAdvantage', n: 12 }]);
  const positions: number[] = [];
  for (const turn of [0, 1, 2])
    positions.push((await annotate({ turn, signals: { humanLabel: turn - 1 } })).data.annotate);
  positions.push((await annotate({ turn: null, attempt: null, signals: { helpful: true } })).data.annotate);
  expect(positions).toEqual([0, 1, 2, 3].map((i) => positions[0] + i));
  await api.project(run);

  const { data } = await api.ask(key, '{ run(id: "r") { signals { level name source rows minimum maximum mean } } }');
  expect(data.run.signals.filter(({ source }: any) => source === 'annotated')).toEqual([
    { level: 'trajectory', name: 'helpful', source: 'annotated', rows: 1, minimum: 1, maximum: 1, mean: 1 },
    { level: 'turn', name: 'humanLabel', source: 'annotated', rows: 3, minimum: -1, maximum: 1, mean: 0 },
  ]);
  expect(await truths()).toEqual([
    { signal: 'exactAdvantage', n: 12 },
    { signal: 'humanLabel', n: 3 },
  ]);
});

it('every annotation is kept and shown with its trajectory, page by page', async () => {
  const asked = `query ($after: String) { trajectory(run: "r", id: "t0-1-0") { annotations(first: 2, after: $after) {
    edges { node { turn annotator signals failure } } pageInfo { hasNextPage endCursor } } } }`;
  for (const [turn, label] of [
    [0, 1],
    [0, -1],
    [1, 0],
  ])
    await annotate({ trajectory: 't0-1-0', turn, signals: { humanLabel: label } });
  await api.project(run);
  const first = (await api.ask(key, asked)).data.trajectory.annotations;
  const rest = (await api.ask(key, asked, { after: first.pageInfo.endCursor })).data.trajectory.annotations;
  expect([first.pageInfo.hasNextPage, rest.pageInfo.hasNextPage]).toEqual([true, false]);
  expect([...first.edges, ...rest.edges].map(({ node }: { node: object }) => node)).toEqual(
    [
      { turn: 0, signals: { humanLabel: 1 } },
      { turn: 0, signals: { humanLabel: -1 } },
      { turn: 1, signals: { humanLabel: 0 } },
    ].map((said) => ({ ...said, annotator: 'ann', failure: null })),
  );
});

it.each<[string, object, string]>([
  ['a run that there is not', { run: 'nowhere' }, 'run.unknown'],
  ['a trajectory that there is not', { trajectory: 't9' }, 'trajectory.unknown'],
  ['a turn after the last', { turn: 3 }, 'request.invalid'],
  ['a turn before the first', { turn: -1 }, 'request.invalid'],
  ['no annotator', { annotator: '' }, 'request.invalid'],
  ['signals that are no object', { signals: [1] }, 'request.invalid'],
])('refuses %s', async (_name, input, code) => {
  const before = await api.db.pool.query('select next_position from run_stream where run_id = $1', [run]);
  const answer = await annotate(input);
  expect(answer.errors).toMatchObject([{ extensions: { code } }]);
  expect(await api.db.pool.query('select next_position from run_stream where run_id = $1', [run])).toMatchObject({
    rows: before.rows,
  });
});
