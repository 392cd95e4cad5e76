import { once } from 'node:events';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import { createClient, type Client, type ClientOptions } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { aTrainingStep, testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';
import { Notifications } from './notifications.js';

let api: TestApi;
let url: string;
let project: string;
let run: string;
let key: string;
let stranger: string;
let clients: Client[];
let notifications: Notifications;

beforeAll(async () => {
  api = await testApi();
  project = await aProject(api.db.ownerPool);
  key = await api.key(project, 'read', 'analyze');
  stranger = await api.key(await aProject(api.db.ownerPool), 'admin');
  url = (await api.listen()).replace('http', 'ws');
  notifications = api.app.get(Notifications);
});

afterAll(() => api?.close());

beforeEach(async () => {
  clients = [];
  run = await aRun(api.db.ownerPool, { project });
  await api.append(run, aTrainingStep(0));
  await api.project(run);
});

afterEach(async () => {
  for (const client of clients) await client.dispose();
  await vi.waitFor(() => expect(notifications.bellCount).toBe(0));
});

/** A client that says its key in its first message; in a header, where one is given. */
function connect(
  said: string | null,
  { header, ...options }: { header?: string } & Partial<ClientOptions> = {},
): Client {
  class WithHeader extends WebSocket {
    constructor(address: string, protocols: string) {
      super(address, protocols, { headers: header ? { authorization: `Bearer ${header}` } : {} });
    }
  }
  const client = createClient({
    url: `${url}/graphql`,
    webSocketImpl: WithHeader,
    retryAttempts: 0,
    ...(said && { connectionParams: { authorization: `Bearer ${said}` } }),
    ...options,
  });
  clients.push(client);
  return client;
}

const RUN =
  'subscription ($run: ID!) { runAdvanced(run: $run) { run position progress { state trajectoryCount lastTrainingStep } } }';
const ANALYSIS = 'subscription ($analysis: ID!) { analysisProgress(analysis: $analysis) { state total done } }';

const follow = (client: Client, query: string, variables: object = {}) =>
  client.iterate<Record<string, any>>({ query, variables: { ...variables } });
const codesOf = (errors: unknown) =>
  (errors as { extensions: { code: string } }[]).map(({ extensions }) => extensions.code);
/** What a subscription is refused with. */
const refusal = async (client: Client, query: string, variables: object = {}): Promise<unknown> => {
  try {
    const { value } = await follow(client, query, variables).next();
    return codesOf(value.errors);
  } catch (error) {
    return Array.isArray(error) ? codesOf(error) : error;
  }
};

async function anAnalysis(): Promise<string> {
  const { data } = await api.ask(
    key,
    'mutation ($run: ID!) { startAnalysis(input: { runs: [{ run: $run }], estimators: [{ id: "grpo" }] }) { id } }',
    { run },
  );
  return data.startAnalysis.id;
}

describe('runAdvanced', () => {
  it('says where the run is, and again whenever it got further', async () => {
    const advances = follow(connect(key), RUN, { run });
    const first = await advances.next();
    expect(first.value).toEqual({
      data: {
        runAdvanced: { run, position: 5, progress: { state: 'RUNNING', trajectoryCount: 4, lastTrainingStep: 0 } },
      },
    });

    const next = advances.next();
    await api.append(run, aTrainingStep(1));
    const appended = performance.now();
    await api.project(run);
    expect((await next).value.data).toMatchObject({ runAdvanced: { position: 10, progress: { lastTrainingStep: 1 } } });
    expect(performance.now() - appended).toBeLessThan(2000);
    await advances.return?.();
  });

  it('takes the name of a run, and many subscribers at once', async () => {
    const client = connect(key);
    const many = Array.from({ length: 20 }, () => follow(client, RUN, { run }));
    const values = await Promise.all(many.map((each) => each.next()));
    expect(values.map(({ value }) => value.data.runAdvanced.position)).toEqual(Array(20).fill(5));
    expect(notifications.bellCount).toBe(20);
    for (const each of many) await each.return?.();
  });
});

describe('analysisProgress', () => {
  it('goes from planning to its end, and ends', async () => {
    const analysis = await anAnalysis();
    const states: string[] = [];
    const watching = (async () => {
      for await (const { data } of follow(connect(key), ANALYSIS, { analysis })) {
        states.push(data?.analysisProgress.state);
        if (states.length === 1) await api.work(analysis, [run]);
      }
    })();
    await watching;
    expect(states[0]).toBe('PLANNING');
    expect(states.at(-1)).toBe('COMPLETED');
  });

  it('of an ended one is one message', async () => {
    const analysis = await anAnalysis();
    await api.work(analysis, [run]);
    const all: unknown[] = [];
    for await (const { data } of follow(connect(key), ANALYSIS, { analysis })) all.push(data);
    expect(all).toEqual([{ analysisProgress: { state: 'COMPLETED', total: 1, done: 1 } }]);
  });
});

describe('the key', () => {
  it('may come in a header', async () => {
    const { value } = await follow(connect(null, { header: key }), RUN, { run }).next();
    expect(value.data.runAdvanced.run).toBe(run);
  });

  it('of the first message counts before that of the header', async () => {
    expect(await refusal(connect(stranger, { header: key }), RUN, { run })).toEqual(['run.unknown']);
  });

  it.each([
    ['none', null, 'key.missing'],
    ['a wrong one', 'rk_no_key', 'key.invalid'],
    ['one without the role', 'ingest', 'role.missing'],
  ])('%s is refused, and the client does not come again', async (_name, said, code) => {
    const client = connect(said === 'ingest' ? await api.key(project, 'ingest') : said, { retryAttempts: 5 });
    const closed = new Promise<unknown>((resolve) => void client.on('closed', resolve));
    const error = await refusal(client, RUN, { run });
    expect(error).toMatchObject({ code: 4401, reason: expect.stringContaining(code) });
    expect(await closed).toMatchObject({ code: 4401 });
  });

  it('of a stranger follows nothing of ours', async () => {
    const analysis = await anAnalysis();
    const fields = Object.keys(subscriptionFields());
    expect(fields.toSorted()).toEqual(['analysisProgress', 'runAdvanced']);
    expect(await refusal(connect(stranger), RUN, { run })).toEqual(['run.unknown']);
    expect(await refusal(connect(stranger), ANALYSIS, { analysis })).toEqual(['analysis.unknown']);
  });

  it('that is revoked ends what it follows', async () => {
    const short = await api.key(project, 'read');
    const advances = follow(connect(short), RUN, { run });
    await advances.next();
    const next = advances.next().catch((errors: unknown) => errors);
    await api.db.ownerPool.query('update api_key set revoked_at = now() where id = $1', [short.split('_')[1]]);
    await api.append(run, aTrainingStep(1));
    await api.project(run);
    expect(codesOf(await next)).toEqual(['key.invalid']);
  });
});

describe('refuses', () => {
  it.each<[string, string, string]>([
    ['what is no GraphQL', 'subscription {', 'query.invalid'],
    ['an unknown field', 'subscription { nothing }', 'query.invalid'],
    ['a query', '{ devices { id } }', 'query.invalid'],
    ['a mutation', 'mutation { cancelAnalysis(id: "x") { id } }', 'query.invalid'],
    [
      'two fields',
      'subscription { a: runAdvanced(run: "x") { run } b: runAdvanced(run: "x") { run } }',
      'query.invalid',
    ],
    ['what is too long', `subscription { runAdvanced(run: "x") { ${'run '.repeat(2000)} } }`, 'query.invalid'],
    [
      'a fragment cycle',
      'subscription { runAdvanced(run: "x") { ...A } } fragment A on RunAdvanced { run ...A }',
      'query.invalid',
    ],
    ['a run that there is not', 'subscription { runAdvanced(run: "x") { run } }', 'run.unknown'],
    ['an analysis that there is not', 'subscription { analysisProgress(analysis: "x") { state } }', 'analysis.unknown'],
  ])('%s', async (_name, query, code) => {
    const client = connect(key);
    expect(await refusal(client, query)).toEqual([code]);
    // and the connection goes on
    expect((await follow(client, RUN, { run }).next()).value.data.runAdvanced.run).toBe(run);
  });

  it('more subscriptions than a connection may hold', async () => {
    const client = connect(key);
    const many = Array.from({ length: 101 }, () => follow(client, RUN, { run }));
    const answers = await Promise.all(
      many.map((each) => each.next().catch((errors: unknown) => ({ value: { errors } }))),
    );
    expect(answers.flatMap(({ value }) => (value.errors ? codesOf(value.errors) : []))).toEqual(['query.too-costly']);
  });

  it('a message that is too large, and an upgrade elsewhere', async () => {
    const large = new WebSocket(`${url}/graphql`, 'graphql-transport-ws');
    await once(large, 'open');
    large.send(JSON.stringify({ type: 'connection_init', payload: { text: 'x'.repeat(100_000) } }));
    expect((await once(large, 'close'))[0]).toBe(1009);
    const elsewhere = new WebSocket(`${url}/v1/runs`, 'graphql-transport-ws');
    expect((await once(elsewhere, 'error'))[0].message).toContain('404');
  });
});

describe('nothing is left behind', () => {
  it.each<[string, (client: Client, advances: AsyncIterableIterator<unknown>) => void]>([
    ['that unsubscribes', (_client, advances) => void advances.return?.()],
    ['that closes', (client) => void client.dispose()],
    ['that disappears', (client) => client.terminate()],
  ])('by a client %s while it waits', async (_name, leave) => {
    const client = connect(key);
    const advances = follow(client, RUN, { run });
    await advances.next();
    expect(notifications.bellCount).toBe(1);
    const waiting = advances.next().catch(() => null);
    leave(client, advances);
    // at once, not when the bell's patience ends
    await vi.waitFor(() => expect(notifications.bellCount).toBe(0), { timeout: 1000 });
    await waiting;
  });
});

it('a lost database connection is made again, and nobody misses what happened meanwhile', async () => {
  const advances = follow(connect(key), RUN, { run });
  await advances.next();
  const next = advances.next();
  await api.db.ownerPool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen%'`,
  );
  await api.append(run, aTrainingStep(1));
  await api.project(run);
  const lost = performance.now();
  expect((await next).value.data.runAdvanced.position).toBe(10);
  expect(performance.now() - lost).toBeLessThan(3000); // and not when somebody looks for want of news
});

it('a platform that stops closes the connection and completes nothing, so that subscribers come again', async () => {
  const stopping = await testApi();
  try {
    const ours = await aProject(stopping.db.ownerPool);
    const theirs = await aRun(stopping.db.ownerPool, { project: ours });
    const client = connect(await stopping.key(ours, 'read'), {
      url: `${(await stopping.listen()).replace('http', 'ws')}/graphql`,
    });
    const closed = new Promise<unknown>((resolve) => void client.on('closed', resolve));
    const advances = follow(client, RUN, { run: theirs });
    await advances.next();
    const next = advances.next().catch((error: unknown) => ({ error }));
    await stopping.app.close();
    expect(await closed).toMatchObject({ code: 1001 });
    expect(await next).toMatchObject({ error: { code: 1001 } });
  } finally {
    await stopping.close();
  }
});

const subscriptionFields = () => api.app.get(GraphQLSchemaHost).schema.getSubscriptionType()?.getFields() ?? {};
