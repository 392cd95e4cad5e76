import { GraphQLSchemaHost } from '@nestjs/graphql';
import * as fc from 'fast-check';
import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

const RUNS = Number(process.env.RECREDIT_FUZZ_RUNS ?? 300);
const PATIENCE_MS = 5_000;

let api: TestApi;
let schema: GraphQLSchema;
let key: string;
let ids: string[];

beforeAll(async () => {
  api = await testApi();
  ({ schema } = api.app.get(GraphQLSchemaHost));
  const project = await aProject(api.db.ownerPool, 'ours');
  const run = await aRun(api.db.ownerPool, { project, name: 'fuzzed' });
  key = await api.key(project, 'admin', 'analyze', 'read');
  await api.append(run, [...aTrainingStep(0), ...aTrainingStep(1)]);
  await api.project(run);
  const started = await api.ask(
    key,
    `mutation ($run: ID!) { startAnalysis(input: { runs: [{ run: $run }], estimators: [{ id: "grpo" }, { id: "gae" }] }) { id } }`,
    { run },
  );
  const analysis: string = started.data.startAnalysis.id;
  await api.work(analysis, [run]);
  ids = ['fuzzed', run, 't0-0-0', analysis, 'ours', 'grpo', 'loss', 'g0'];
});

afterAll(() => api?.close());

type Gen = fc.GeneratorValue;

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, '', '\u0000', '\ud800', '😀', "'; drop table run; --", '%', 'x'.repeat(5_000)),
  fc.constantFrom<unknown>(-1, 0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 0.5, [], {}, [null], [[1]]),
  fc.string({ unit: 'binary' }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** A value of the type most of the time, something else now and then. */
function valueOf(g: Gen, type: GraphQLInputType, depth = 0): unknown {
  if (g(fc.nat, 11) === 0) return g(() => odd);
  const nullable = getNullableType(type);
  if (isListType(nullable)) return Array.from({ length: g(fc.nat, 2) }, () => valueOf(g, nullable.ofType, depth + 1));
  if (isEnumType(nullable)) return new Name(g(fc.constantFrom, ...nullable.getValues().map(({ name }) => name)));
  if (isInputObjectType(nullable)) {
    const fields = Object.values(nullable.getFields()).filter((field) => field.type !== nullable || depth < 3);
    const chosen = fields.filter((field) => !isNullable(field.type) || g(fc.boolean));
    return Object.fromEntries(chosen.map((field) => [field.name, valueOf(g, field.type, depth + 1)]));
  }
  switch (getNamedType(nullable).name) {
    case 'Int':
    case 'Position':
    case 'Float':
      return g(fc.constantFrom, 0, 1, 2, 20, 500, -1, 2 ** 31 - 1);
    case 'Boolean':
      return g(fc.boolean);
    case 'JSON':
      return g(fc.jsonValue);
    default:
      return g(fc.constantFrom, ...ids);
  }
}

const isNullable = (type: GraphQLInputType) => getNullableType(type) === type;

/** An enum's value: written without quotes. */
class Name {
  constructor(readonly name: string) {}
  toJSON(): string {
    return this.name;
  }
}

function literal(value: unknown): string {
  if (value instanceof Name) return value.name;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([name]) => /^[_A-Za-z]\w*$/.test(name));
    return `{${fields.map(([name, field]) => `${name}: ${literal(field)}`).join(', ')}}`;
  }
  return JSON.stringify(value);
}

interface Asking {
  readonly variables: Record<string, unknown>;
  readonly declared: string[];
}

function argumentsOf(g: Gen, args: readonly GraphQLArgument[], asking: Asking): string {
  const chosen = args.filter(({ type }) => (isNullable(type) ? g(fc.boolean) : g(fc.nat, 20) > 0));
  const texts = chosen.map(({ name, type }) => {
    const value = valueOf(g, type);
    if (g(fc.boolean)) return `${name}: ${literal(value)}`;
    const variable = `v${asking.declared.length}`;
    asking.declared.push(`$${variable}: ${String(type)}`);
    asking.variables[variable] = value;
    return `${name}: $${variable}`;
  });
  return texts.length > 0 ? `(${texts.join(', ')})` : '';
}

function fieldOf(g: Gen, field: GraphQLField<unknown, unknown>, asking: Asking, depth: number): string {
  const type = getNamedType(field.type);
  const alias = g(fc.nat, 9) === 0 ? `a${g(fc.nat, 3)}: ` : '';
  const head = `${alias}${field.name}${argumentsOf(g, field.args, asking)}`;
  return isCompositeType(type) ? `${head} ${selectionOf(g, type as GraphQLObjectType, asking, depth - 1)}` : head;
}

function selectionOf(g: Gen, type: GraphQLObjectType, asking: Asking, depth: number): string {
  const fields = Object.values(type.getFields());
  const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)));
  const reachable = depth > 0 ? fields : leaves;
  const chosen = Array.from(
    { length: 1 + g(fc.nat, 3) },
    () => reachable[g(fc.nat, 1_000) % Math.max(reachable.length, 1)],
  );
  const texts = [...new Set(chosen)].filter(Boolean).map((field) => fieldOf(g, field, asking, depth));
  return `{ ${['__typename', ...texts].join(' ')} }`;
}

function documentOf(g: Gen): { query: string; variables: Record<string, unknown> } {
  const asking: Asking = { variables: {}, declared: [] };
  const kind = g(fc.constantFrom, 'query', 'query', 'query', 'mutation');
  const root = kind === 'query' ? schema.getQueryType()! : schema.getMutationType()!;
  const selection = selectionOf(g, root, asking, 2 + g(fc.nat, 8));
  const declared = asking.declared.length > 0 ? `(${asking.declared.join(', ')})` : '';
  return { query: `${kind} ${declared} ${selection}`, variables: asking.variables };
}

it('answers any query of its schema with data or a coded refusal, in time', async () => {
  let answered = 0;
  const codes = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (g) => {
      const { query, variables } = documentOf(g);
      const started = performance.now();
      const { status, data, errors } = await api.ask(key, query, variables);
      const told = { query, variables, errors, logged: api.logged.splice(0) };
      expect(performance.now() - started, query).toBeLessThan(PATIENCE_MS);
      expect({ ...told, status: status < 500 }).toMatchObject({ status: true, logged: [] });
      if (data && !errors) answered++;
      for (const { extensions, message } of errors ?? []) {
        expect({ ...told, code: extensions.code, message }).toMatchObject({
          code: expect.stringMatching(/^\w+\.[\w-]+$/),
        });
        expect({ ...told, code: extensions.code }).not.toMatchObject({ code: 'internal.error' });
        codes.set(extensions.code, (codes.get(extensions.code) ?? 0) + 1);
      }
    }),
    { numRuns: RUNS, interruptAfterTimeLimit: 3_600_000 },
  );
  expect(answered).toBeGreaterThan(RUNS / 20);
  expect(codes.size).toBeGreaterThan(1);
}, 3_600_000);

it.each([
  '',
  '{',
  '{ runs',
  'query',
  '\u0000',
  '{ __proto__ }',
  '{ constructor }',
  `{ ${'runs '.repeat(6_000)} }`,
  '{ ...a } fragment a on Query { ...a }',
  '{ runs { edges { node '.repeat(200),
  'query a { __typename } query b { __typename }',
  'subscription { runAdvanced(run: "fuzzed") { run } }',
  '{ run(id: "\\ud800") { id } }',
  '{ run(id: "\\u0000") { id } }',
  '#'.repeat(1e6),
  '1',
  '"x"',
  '{"kind":"Document"}',
  '{"kind":"Document","definitions":[{"kind":"OperationDefinition"}]}',
])(
  // prettier-ignore
  'refuses or answers %s',
  async (query) => {
    const { status, errors } = await api.ask(key, query);
    expect(status).toBeLessThan(500);
    for (const { extensions } of errors ?? []) expect(extensions.code).not.toBe('internal.error');
    expect(api.logged.splice(0)).toEqual([]);
  },
);

it.each([
  '[]',
  'null',
  '1',
  '"x"',
  '{"query":1}',
  '{"query":null}',
  '{"query":"{ __typename }","variables":1}',
  '{"query":"{ __typename }","variables":[]}',
  '{"query":"{ __typename }","operationName":1}',
  '{"query":"{ __typename }","operationName":"b"}',
  '{',
  '{"query":"{ __typename }","extensions":1}',
  `{"query":"{ __typename }","variables":{"x":${'['.repeat(1e5)}${']'.repeat(1e5)}}}`,
  '[{"query":"{ __typename }"}]',
])(
  // prettier-ignore
  'takes the body %s for what it is',
  async (payload) => {
    const response = await api.app
      .getHttpAdapter()
      .getInstance()
      .inject({
        method: 'POST',
        url: '/graphql',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        payload,
      });
    expect(response.statusCode).toBeLessThan(500);
    expect(response.body).not.toContain('internal.error');
    expect(api.logged.splice(0)).toEqual([]);
  },
);
