import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

let api: TestApi;
let key: string;
let run: string;

beforeAll(async () => {
  api = await testApi();
  const project = await aProject(api.db.ownerPool, 'ours');
  key = await api.key(project, 'read', 'analyze');
  run = await aRun(api.db.ownerPool, { project, name: 'r' });
  await api.append(run, aTrainingStep(0));
  await api.project(run);
});

afterAll(() => api?.close());

const START = `mutation ($input: StartAnalysisInput!) { startAnalysis(input: $input) { id } }`;
const start = (input: object) =>
  api.ask(key, START, { input: { runs: [{ run: 'r' }], estimators: [{ id: 'grpo' }], ...input } });
const codes = ({ errors }: { errors?: readonly { extensions: { code: string } }[] }) =>
  errors?.map(({ extensions }) => extensions.code);

describe('a query that is refused', () => {
  it.each<[string, string, string, object?]>([
    ['no GraphQL', '{', 'query.invalid'],
    ['empty', '', 'query.invalid'],
    ['an unknown field', '{ nothing }', 'query.invalid'],
    ['an argument of another type', '{ run(id: { a: 1 }) { id } }', 'query.invalid'],
    [
      'a variable of another type',
      'query ($n: Int) { runs(first: $n) { edges { cursor } } }',
      'query.invalid',
      { n: 'x' },
    ],
    ['a variable that is needed', 'query ($id: ID!) { run(id: $id) { id } }', 'query.invalid', {}],
    [
      'an enum that there is not',
      '{ run(id: "r") { trajectories(filter: { state: GONE }) { edges { cursor } } } }',
      'query.invalid',
    ],
    ['a position below 0', '{ run(id: "r") { diagnostics(asOf: -1) { id } } }', 'query.invalid'],
    ['a position that is a text', '{ run(id: "r") { diagnostics(asOf: "3") { id } } }', 'query.invalid'],
    ['too deep', `{ __schema { types ${'{ fields { type '.repeat(8)} { name } ${'} }'.repeat(8)} } }`, 'query.invalid'],
    [
      'a fragment cycle',
      '{ run(id: "r") { ...A } } fragment A on Run { ...B } fragment B on Run { ...A }',
      'query.invalid',
    ],
    ['too long', `{ ${Array.from({ length: 900 }, (_, i) => `a${i}: devices { id }`).join(' ')} }`, 'query.invalid'],
    [
      'too costly',
      '{ runs(first: 500) { edges { node { groups(first: 500) { edges { node { name } } } } } } }',
      'query.too-costly',
    ],
    [
      'too costly by aliases',
      `{ ${Array.from({ length: 40 }, (_, i) => `a${i}: runs(first: 500) { edges { node { signals { name } groups { pageInfo { endCursor } } } } }`).join(' ')} }`,
      'query.too-costly',
    ],
    ['a text with NUL', '{ run(id: "a\\u0000") { id } }', 'request.invalid'],
  ])('%s', async (_name, query, code, variables) => {
    // the third time it would be a compiled one that refuses
    for (let i = 0; i < 3; i++) {
      const answer = await api.ask(key, query, variables);
      expect(new Set(codes(answer))).toEqual(new Set([code]));
      expect(answer.status).toBe(code === 'request.invalid' ? 200 : 400);
      expect(answer.errors?.[0].extensions.status).toBe(400);
    }
  });

  it('leaves no error of ours in the log', () => expect(api.logged).toEqual([]));

  it.each([
    ['no JSON', '{', 'application/json'],
    ['a batch', '[{"query":"{ devices { id } }"}]', 'application/json'],
    ['a number', '7', 'application/json'],
    ['another type', 'query=a', 'application/x-www-form-urlencoded'],
    ['lines', '{}\n', 'application/x-ndjson'],
  ])('as a body that is %s', async (_name, payload, type) => {
    const response = await http().inject({
      method: 'POST',
      url: '/graphql',
      payload,
      headers: { authorization: `Bearer ${key}`, 'content-type': type },
    });
    expect(response.statusCode).toBe(400);
    expect(codes(response.json())).toEqual(['query.invalid']);
  });
});

const http = () => api.app.getHttpAdapter().getInstance();

it.each(['?query={devices{id}}', '', '?query=mutation{cancelAnalysis(id:"x"){id}}'])(
  'GET /graphql%s is refused',
  async (search) => {
    const response = await http().inject({
      method: 'GET',
      url: `/graphql${search}`,
      headers: { authorization: `Bearer ${key}` },
    });
    expect(response).toMatchObject({ statusCode: 405, headers: { allow: 'POST' } });
    expect(codes(response.json())).toEqual(['request.invalid']);
  },
);

it.each([
  [null, 'key.missing'],
  ['rk_no_key', 'key.invalid'],
])('without a key (%s) GraphQL says so where its clients look', async (wrong, code) => {
  for (const headers of [{}, { upgrade: 'websocket' }, { upgrade: 'websocket', connection: 'upgrade' }]) {
    for (const query of ['{ devices { id } }', getIntrospectionQuery()]) {
      const response = await http().inject({
        method: 'POST',
        url: '/graphql',
        payload: { query },
        headers: { ...headers, ...(wrong && { authorization: `Bearer ${wrong}` }) },
      });
      expect(response).toMatchObject({ statusCode: 401, headers: { 'www-authenticate': 'Bearer' } });
      expect(response.json()).toMatchObject({ code, status: 401, errors: [{ extensions: { code, status: 401 } }] });
    }
  }
});

it('answers what tools ask of the schema', async () => {
  const { data, errors } = await api.ask(key, getIntrospectionQuery());
  expect(errors).toBeUndefined();
  expect(data.__schema.queryType.name).toBe('Query');
});

describe('what is asked for is named', () => {
  it('an estimator that there is not, with those there are', async () => {
    const answer = await start({ estimators: [{ id: 'no-such' }] });
    expect(answer.errors).toMatchObject([
      { extensions: { code: 'estimator.unknown', status: 404, details: { id: 'no-such' } } },
    ]);
    expect(answer.errors?.[0].message).toContain('there are grpo, ');
    expect(answer.errors?.[0].extensions.details.known).toContain('hgpo');
  });

  it.each([
    [{ normalizeByStd: 'yes' }, 'normalizeByStd'],
    [{ nonsense: 1 }, 'nonsense'],
    [{ epsilon: -1 }, 'epsilon'],
    [[1], 'object'],
    ['text', 'object'],
  ])('params that are wrong: %j', async (params, named) => {
    const answer = await start({ estimators: [{ id: 'grpo', params }] });
    expect(codes(answer)).toEqual(['params.invalid']);
    expect(answer.errors?.[0].message).toContain(named);
  });

  it.each<[string, object, string]>([
    ['a run that there is not', { runs: [{ run: 'nowhere' }] }, 'run.unknown'],
    ['no run', { runs: [] }, 'request.invalid'],
    ['no estimator', { estimators: [] }, 'request.invalid'],
    ['steps from high to low', { firstStep: 3, lastStep: 1 }, 'request.invalid'],
    ['a position that is not reached', { runs: [{ run: 'r', asOf: 1e9 }] }, 'request.invalid'],
    ['a run twice', { runs: [{ run: 'r' }, { run: 'r' }] }, 'request.invalid'],
    ['too many runs', { runs: Array.from({ length: 101 }, () => ({ run: 'r' })) }, 'request.invalid'],
  ])('%s', async (_name, input, code) => expect(codes(await start(input))).toEqual([code]));

  it('runs of two projects', async () => {
    const everything = await api.key(null, 'admin');
    const other = await aRun(api.db.ownerPool);
    const answer = await api.ask(everything, START, {
      input: { runs: [{ run }, { run: other }], estimators: [{ id: 'grpo' }] },
    });
    expect(codes(answer)).toEqual(['request.invalid']);
  });

  it('the name of a run that several projects use', async () => {
    const everything = await api.key(null, 'admin');
    await aRun(api.db.ownerPool, { name: 'r' });
    const answer = await api.ask(everything, '{ run(id: "r") { id } }');
    expect(codes(answer)).toEqual(['run.unknown']);
    expect(answer.errors?.[0].message).toContain('several projects');
    expect((await api.ask(everything, `{ run(id: "${run}") { id } }`)).data).toEqual({ run: { id: run } });
  });

  it('an analysis that ended', async () => {
    const { data } = await start({});
    await api.work(data.startAnalysis.id, [run]);
    const cancel = (id: string) => api.ask(key, 'mutation ($id: ID!) { cancelAnalysis(id: $id) { state } }', { id });
    expect(codes(await cancel(data.startAnalysis.id))).toEqual(['analysis.ended']);
    expect(codes(await cancel('none'))).toEqual(['analysis.unknown']);
    const waiting = (await start({})).data.startAnalysis.id;
    for (let i = 0; i < 2; i++)
      expect((await cancel(waiting)).data).toEqual({ cancelAnalysis: { state: 'CANCELLED' } });
  });
});

it('what fails on our side is logged, and not shown', async () => {
  await api.db.ownerPool.query('alter table signal_summary rename to elsewhere');
  try {
    for (let i = 0; i < 3; i++) {
      api.logged.length = 0;
      const answer = await api.ask(key, '{ run(id: "r") { signals { name } } good: devices { id } }');
      expect(answer).toMatchObject({ status: 200, data: { run: null, good: [{ id: 'cpu' }] } });
      expect(answer.errors).toEqual([
        {
          message: 'something went wrong on our side; the log of the platform has it',
          locations: [{ line: 1, column: 18 }],
          path: ['run', 'signals'],
          extensions: { code: 'internal.error', status: 500, details: {} },
        },
      ]);
      expect(api.logged).toMatchObject([{ err: { message: expect.stringContaining('signal_summary') } }]);
    }
  } finally {
    await api.db.ownerPool.query('alter table elsewhere rename to signal_summary');
  }
});

it('runs the operation that is named, also once it is compiled', async () => {
  const query = 'query A { devices { id } } query B { projects { edges { node { name } } } }';
  for (const operationName of ['A', 'B', 'A', 'B', 'A', 'B', 'B', 'A']) {
    const { data } = await api.ask(key, query, undefined, { operationName });
    expect(Object.keys(data)).toEqual([operationName === 'A' ? 'devices' : 'projects']);
  }
});

it('a query as long as it may be is checked in a moment', async () => {
  const long = [
    `{ ${'devices { id } '.repeat(1200)} }`,
    `{ run(id: "r") { ${'...A '.repeat(1600)} } } fragment A on Run { id name }`,
    `{ run(id: "r") { ${Array.from({ length: 300 }, (_, i) => `...F${i}`).join(' ')} } } ${Array.from({ length: 300 }, (_, i) => `fragment F${i} on Run { progress { state position } }`).join(' ')}`,
    `{ run(id: "r") { ...F250 } } fragment F0 on Run { id } ${Array.from({ length: 250 }, (_, i) => `fragment F${i + 1} on Run { ...F${i} ...F${i} }`).join(' ')}`,
  ];
  for (const query of long) {
    const started = performance.now();
    for (let i = 0; i < 3; i++) await api.ask(key, query);
    expect(performance.now() - started).toBeLessThan(3000);
  }
});
