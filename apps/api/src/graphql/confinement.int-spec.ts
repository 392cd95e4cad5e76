import {
  getNamedType,
  isInputObjectType,
  isNonNullType,
  isObjectType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aTrainingStep, testApi, type Answer, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

const MAX_DEPTH = 16;

let api: TestApi;
let schema: GraphQLSchema;
let ours: string;
let theirs: string;
let run: string;
let theirRun: string;
let analysis: string;
let audit: string;
let webhook: string;
let nearest: string;
let delivery: string;
let keys: Record<'owner' | 'stranger' | 'admin' | 'everything', string>;
/** what tells that something is ours */
let secrets: string[];

beforeAll(async () => {
  api = await testApi();
  ({ schema } = api.app.get(GraphQLSchemaHost));
  ours = await aProject(api.db.ownerPool, 'secret-project');
  theirs = await aProject(api.db.ownerPool, 'theirs');
  run = await aRun(api.db.ownerPool, { project: ours, name: 'secret-run' });
  theirRun = await aRun(api.db.ownerPool, { project: theirs, name: 'their run' });
  keys = {
    owner: await api.key(ours, 'admin'),
    stranger: await api.key(theirs, 'admin'),
    admin: await api.key(ours, 'admin'),
    everything: await api.key(null, 'admin'),
  };
  for (const each of [run, theirRun]) {
    await api.append(each, aTrainingStep(0, { prefix: each === run ? 'secret-' : '' }));
    await api.project(each);
  }
  const { data } = await api.ask(
    keys.owner,
    `mutation { startAnalysis(input: { runs: [{ run: "secret-run" }], estimators: [{ id: "grpo" }, { id: "rloo" }] }) { id } }`,
  );
  analysis = data.startAnalysis.id;
  await api.work(analysis, [run]);
  audit = (await api.ask(keys.owner, `mutation { startAudit(input: { run: "secret-run", estimator: "grpo" }) { id } }`))
    .data.startAudit.id;
  nearest = (
    await api.ask(
      keys.owner,
      `mutation { findNearestTurns(input: { run: "secret-run", trajectory: "secret-t0-0-0", index: 0 }) { id } }`,
    )
  ).data.findNearestTurns.id;
  webhook = (
    await api.ask(
      keys.owner,
      `mutation { createWebhook(input: { project: "secret-project", url: "https://secret.example/" }) { webhook { id } } }`,
    )
  ).data.createWebhook.webhook.id;
  await api.db.ownerPool.query(
    `insert into alert (id, run_id, diagnostic, rule, level, says, saw, opened_step, opened_as_of)
     values ('secret-alert', $1, 'd', 'r', 'warn', 'secret', '{}', 0, 1)`,
    [run],
  );
  delivery = 'secret-delivery';
  await api.db.ownerPool.query(
    `insert into webhook_delivery (id, webhook_id, project_id, run_id, alert_id, edge, body, state)
     values ($1, $2, $3, $4, 'secret-alert', 'opened', '{}', 'failed')`,
    [delivery, webhook, ours, run],
  );
  const { rows } = await api.db.ownerPool.query(
    `select encode(chain_hash, 'hex') as hash from run_stream where run_id = $1`,
    [run],
  );
  secrets = [ours, run, analysis, 'secret', rows[0].hash, ...[keys.owner, keys.admin].map((key) => key.split('_')[1])];
});

afterAll(() => api?.close());

/** What a field's argument is given: always something of ours. */
function valueOf(field: string, { name, type }: GraphQLArgument): unknown {
  if (name === 'first') return 1;
  if (field === 'run' || name === 'run') return run;
  if (name === 'analysis' || name === 'against' || field === 'analysis') return analysis;
  if (field === 'audit') return audit;
  if (field === 'webhook') return webhook;
  if (field === 'nearestTurns') return nearest;
  if (field === 'estimate') {
    const turns = [{ action: 'a' }];
    return { estimator: 'grpo', trajectories: [{ id: 't', group: 'g', trainingStep: 0, outcomeReward: 1, turns }] };
  }
  if (field === 'trajectory') return 'secret-t0-0-0';
  if (field === 'creditSample') return name === 'points' ? 2 : 'grpo';
  if (field === 'metric' && name === 'name') return 'loss';
  if (field === 'project' || name === 'project') return 'secret-project';
  if (isNonNullType(type)) throw new Error(`say what ${field}(${name}) is given`);
  return undefined;
}

/** As GraphQL writes it: names of fields are not quoted. */
const literal = (value: unknown) => JSON.stringify(value).replaceAll(/"(\w+)":/g, '$1:');

/** Asks for all that there is below a field. */
function everythingOf(field: GraphQLField<unknown, unknown>, depth = 1): string {
  const args = field.args.flatMap((arg) => {
    const value = valueOf(field.name, arg);
    return value === undefined ? [] : [`${arg.name}: ${literal(value)}`];
  });
  const type = getNamedType(field.type);
  const below = isObjectType(type) ? ` { ${selectionOf(type, depth)} }` : '';
  return `${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}${below}`;
}

function selectionOf(type: GraphQLObjectType, depth: number): string {
  const fields = Object.values(type.getFields()).filter(
    (field) => depth < MAX_DEPTH - 2 || !isObjectType(getNamedType(field.type)),
  );
  return fields.map((field) => everythingOf(field, depth + 1)).join(' ');
}

const rootsOf = (type: GraphQLObjectType | null | undefined) => Object.values(type?.getFields() ?? {});
const foundIn = (text: string) => secrets.filter((secret) => text.includes(secret));
/** Answers that have nothing of anybody. */
const OF_NOBODY = new Set(['estimators', 'devices', 'workerDevices', 'diagnosticCatalogue', 'estimate']);
/** Mutations that touch nothing of anybody. */
const TOUCH_NOBODY = { lookForDevices: 'lookForDevices' };

it('no root of the schema, nor anything below it, shows a stranger what is ours', async () => {
  const roots = rootsOf(schema.getQueryType());
  expect(roots.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'project',
      'projects',
      'run',
      'runs',
      'trajectory',
      'analysis',
      'audit',
      'events',
      'apiKeys',
      'webhooks',
    ]),
  );
  for (const root of roots) {
    const query = `{ ${everythingOf(root)} }`;
    const seen = await api.ask(keys.owner, query);
    expect(seen.errors, root.name).toBeUndefined();
    if (!OF_NOBODY.has(root.name)) expect(foundIn(JSON.stringify(seen.data)), root.name).not.toEqual([]);

    const hidden = await api.ask(keys.stranger, query);
    expect(foundIn(JSON.stringify(hidden)), root.name).toEqual([]);
    expect(hidden.data, root.name).toBeDefined();
  }
});

it('credit of our analysis hangs on no turn of theirs', async () => {
  const { data } = await api.ask(
    keys.stranger,
    `{ run(id: "their run") { trajectories(first: 1) { edges { node { id turns { edges { node { credit(analysis: "${analysis}") { credit } } } } } } } } }`,
  );
  const [{ node }] = data.run.trajectories.edges;
  expect(node.id).toBe('t0-0-0');
  expect(node.turns.edges.map((edge: any) => edge.node.credit)).toEqual([[], [], []]);
});

describe('mutations', () => {
  /** Each as a stranger would send it against us, and what it is told. */
  const ATTACKS: Record<string, [query: () => string, code: string]> = {
    startAnalysis: [
      () => `startAnalysis(input: { runs: [{ run: "${run}" }], estimators: [{ id: "grpo" }] }) { id }`,
      'run.unknown',
    ],
    cancelAnalysis: [() => `cancelAnalysis(id: "${analysis}") { id }`, 'analysis.unknown'],
    annotate: [
      () =>
        `annotate(input: { run: "${run}", trajectory: "secret-t0-0-0", annotator: "me", signals: { humanLabel: 1 } })`,
      'run.unknown',
    ],
    annotateAll: [
      () =>
        `annotateAll(input: { run: "${run}", annotator: "me", annotations: [{ trajectory: "secret-t0-0-0", turn: 0, signals: { humanLabel: 1 } }] }) { recorded }`,
      'run.unknown',
    ],
    createApiKey: [
      () => `createApiKey(input: { name: "k", project: "secret-project", roles: [ADMIN] }) { text }`,
      'project.unknown',
    ],
    eraseRun: [() => `eraseRun(input: { run: "${run}" }) { position }`, 'run.unknown'],
    measureDiagnostics: [() => `measureDiagnostics(run: "${run}", asOf: 1)`, 'run.unknown'],
    setDiagnostics: [() => `setDiagnostics(run: "${run}", settings: {}) { version }`, 'run.unknown'],
    startAudit: [() => `startAudit(input: { run: "${run}", estimator: "grpo" }) { id }`, 'run.unknown'],
    findNearestTurns: [
      () => `findNearestTurns(input: { run: "${run}", trajectory: "secret-t0-0-0", index: 0 }) { id }`,
      'run.unknown',
    ],
    setRetention: [() => `setRetention(project: "secret-project", days: 1) { id }`, 'project.unknown'],
    revokeApiKey: [() => `revokeApiKey(id: "${keys.owner.split('_')[1]}") { id }`, 'key.unknown'],
    createWebhook: [
      () => `createWebhook(input: { project: "secret-project", url: "https://their.example/" }) { secret }`,
      'project.unknown',
    ],
    deleteWebhook: [() => `deleteWebhook(id: "${webhook}") { id }`, 'webhook.unknown'],
    deliverWebhookAgain: [() => `deliverWebhookAgain(delivery: "${delivery}") { id }`, 'webhook.unknown'],
    limitApiKey: [
      () => `limitApiKey(id: "${keys.owner.split('_')[1]}", limits: { requestsPerSecond: 0 }) { id }`,
      'role.missing',
    ],
  };

  const stateOfOurs = async () => {
    const { rows } = await api.db.ownerPool.query(
      `select (select count(*) from analysis) as analyses, (select count(*) from audit) as audits, (select count(*) from nearest_turns) as nearest, (select count(*) from api_key) as keys,
         (select count(*) from api_key where revoked_at is not null) as revoked, (select sum(next_position) from run_stream) as events,
         (select count(*) from run_erasure) as erased, (select count(retention_days) from project) as kept,
         (select count(*) - count(deleted_at) from webhook) as webhooks,
         (select count(*) from webhook_delivery where state = 'failed') as deliveries`,
    );
    return rows[0];
  };

  it('all are attacked here', () => {
    expect(Object.keys({ ...ATTACKS, ...TOUCH_NOBODY }).toSorted()).toEqual(
      rootsOf(schema.getMutationType())
        .map(({ name }) => name)
        .toSorted(),
    );
  });

  it.each(Object.keys(ATTACKS))('%s of a stranger reaches nothing of ours', async (name) => {
    const [query, code] = ATTACKS[name];
    const before = await stateOfOurs();
    const answer = await api.ask(keys.stranger, `mutation { ${query()} }`);
    expect(answer.errors).toMatchObject([{ extensions: { code } }]);
    expect(await stateOfOurs()).toEqual(before);
  });

  const mutations = Object.entries(ATTACKS).map(([name, [query]]) => [name, query] as const);
  const others = Object.entries(TOUCH_NOBODY).map(([name, query]) => [name, () => query] as const);
  it.each([...mutations, ...others])('%s needs its role', async (name, query) => {
    const needed = /Key|erase|Retention|Webhook/.test(name) ? 'admin' : 'analyze';
    const before = await stateOfOurs();
    for (const role of ['ingest', 'read', 'analyze'] as const) {
      if (role === needed) continue;
      const answer = await api.ask(await api.key(ours, role), `mutation { ${query()} }`);
      expect(answer.errors).toMatchObject([{ extensions: { code: 'role.missing', status: 403, details: { needed } } }]);
      expect(answer.status).toBe(403);
    }
    expect((await stateOfOurs()).events).toEqual(before.events);
  });
});

it.each(['ingest', 'analyze'] as const)('a key with the role %s alone reads nothing', async (role) => {
  const key = await api.key(ours, role);
  for (const root of rootsOf(schema.getQueryType())) {
    if (role === 'analyze' && root.name === 'estimate') continue; // it computes for whoever may, and reads nothing
    const answer = await api.ask(key, `{ ${everythingOf(root)} }`);
    expect(answer.errors, root.name).toMatchObject([{ path: [root.name], extensions: { code: 'role.missing' } }]);
    expect(foundIn(JSON.stringify(answer.data)), root.name).toEqual([]);
  }
});

it('only admins see keys, and of them only those of their project', async () => {
  const reader = await api.key(ours, 'read', 'analyze', 'ingest');
  const ask = (key: string) => api.ask(key, '{ apiKeys(first: 100) { edges { node { id projectId } } } }');
  expect((await ask(reader)).errors).toMatchObject([
    { extensions: { code: 'role.missing', details: { needed: 'admin' } } },
  ]);
  const seen = (await ask(keys.owner)).data.apiKeys.edges.map(({ node }: any) => node);
  expect(new Set(seen.map(({ projectId }: any) => projectId))).toEqual(new Set([ours]));
});

describe('keys are made', () => {
  const create = (key: string, input: string): Promise<Answer> =>
    api.ask(
      key,
      `mutation { createApiKey(input: { name: "made", ${input} }) { text key { id name projectId roles createdAt revokedAt } } }`,
    );

  it('for one project, by its admin, and work until they are revoked', async () => {
    const { data } = await create(keys.owner, `project: "${ours}", roles: [READ, INGEST]`);
    const { text, key } = data.createApiKey;
    expect(key).toMatchObject({ name: 'made', projectId: ours, roles: ['READ', 'INGEST'], revokedAt: null });
    expect((await api.ask(text, '{ run(id: "secret-run") { id } }')).data).toEqual({ run: { id: run } });

    const revoked = await api.ask(keys.owner, `mutation { revokeApiKey(id: "${key.id}") { id revokedAt } }`);
    expect(revoked.data.revokeApiKey.revokedAt).not.toBeNull();
    expect(await api.ask(text, '{ devices { id } }')).toMatchObject({
      status: 401,
      errors: [{ extensions: { code: 'key.invalid' } }],
    });
  });

  it.each([
    ['for another project', () => `project: "${theirs}", roles: [READ]`, 'project.unknown'],
    ['without limits', () => `project: "${ours}", roles: [READ], requestsPerSecond: 0`, 'role.missing'],
    ['for another project by name', () => 'project: "theirs", roles: [READ]', 'project.unknown'],
    ['for all projects', () => 'roles: [READ]', 'project.unknown'],
    ['for all projects, said so', () => 'project: null, roles: [READ]', 'project.unknown'],
    ['for a project without a name', () => 'project: "", roles: [READ]', 'project.unknown'],
    ['without a role', () => `project: "${ours}", roles: []`, 'request.invalid'],
    ['with a role that there is not', () => `project: "${ours}", roles: [OWNER]`, 'query.invalid'],
  ])('but not %s by the admin of a project', async (_name, input, code) => {
    const answer = await create(keys.owner, input());
    expect(answer.errors).toMatchObject([{ extensions: { code } }]);
    expect(JSON.stringify(answer)).not.toContain('rk_');
  });

  it('for all projects by a key of all projects', async () => {
    const { data } = await create(keys.everything, 'roles: [ADMIN]');
    expect(data.createApiKey.key.projectId).toBeNull();
    const empty = await create(keys.everything, 'project: "", roles: [ADMIN]');
    expect(empty.errors).toMatchObject([{ extensions: { code: 'project.unknown' } }]);
  });
});

it('every input is one that the attacks above know', () => {
  const inputs = Object.values(schema.getTypeMap()).filter(isInputObjectType);
  expect(inputs.map(({ name }) => name).toSorted()).toEqual([
    'AnnotateAllInput',
    'AnnotateInput',
    'CreateApiKeyInput',
    'CreateWebhookInput',
    'EraseRunInput',
    'EstimateInput',
    'EstimatorInput',
    'FindNearestTurnsInput',
    'KeyLimitsInput',
    'RunAsOfInput',
    'RunFilter',
    'RunOrder',
    'SaidInput',
    'StartAnalysisInput',
    'StartAuditInput',
    'StateIdentityInput',
    'TrajectoryFilter',
  ]);
});
