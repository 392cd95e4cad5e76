import { buildSchema, execute, parse, type ExecutionResult, type GraphQLObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { planOf, type Walk } from './plain-fields.js';

const SCHEMA = buildSchema(`
  type Query { page: Page! }
  type Page { edges: [Edge!]! info: Info }
  type Info { hasMore: Boolean! }
  type Edge { cursor: String! node: Turn! }
  type Turn { index: Int! reward: Float names: [String] required: [Float!] said(of: ID!): [Said!]! }
  type Said { by: String! credit: Float }
`);
const saidOf = (value: any, of: string) => value.said.map((one: object) => ({ ...one, by: of }));

/** As GraphQL answers it. */
function asGraphQL(query: string, page: object, variableValues: Record<string, unknown>): ExecutionResult {
  const resolving = structuredClone(page) as any;
  for (const { node } of resolving.edges) {
    const { said } = node;
    node.said = ({ of }: { of: string }) => saidOf({ said }, of);
  }
  return execute({ schema: SCHEMA, document: parse(query), rootValue: { page: resolving }, variableValues }) as any;
}

/** The same by a plan. */
function asPlanned(query: string, page: object, variableValues: Record<string, unknown>): ExecutionResult {
  const document = parse(query);
  const [operation, ...fragments] = document.definitions as any[];
  const plan = planOf(
    { fragments: Object.fromEntries(fragments.map((one) => [one.name.value, one])), variableValues },
    SCHEMA.getType('Page') as GraphQLObjectType,
    operation.selectionSet.selections.map((field: any) => field.selectionSet),
    (field) => field === 'Turn.said',
  );
  for (const { args, values } of plan.loaded)
    for (const { node } of (page as any).edges) values.set(node, saidOf(node, args.of as string));
  const walk: Walk = { context: null, path: ['page'], errors: [] };
  try {
    const answer = plan.answer(page, walk);
    return { data: { page: answer }, ...(walk.errors.length > 0 && { errors: walk.errors }) };
  } catch (error) {
    return { errors: [error as any], data: null };
  }
}

const PAGE = {
  edges: [
    { cursor: 'a', node: { index: 0, reward: 1.5, names: ['x', null], required: [1, 2], said: [{ credit: -1 }] } },
    { cursor: 'b', node: { index: 1, reward: null, names: null, required: null, said: [] } },
  ],
  info: { hasMore: false },
};
const EVERYTHING = `query ($of: ID!) { page { __typename edges { cursor node {
  index reward names required said(of: $of) { by credit } } } info { hasMore } } }`;

it.each<[string, string]>([
  ['every field', EVERYTHING],
  ['other names', '{ page { e: edges { __proto__: cursor n: node { a: index b: index t: __typename } } } }'],
  [
    'fields that are asked for twice',
    '{ page { edges { node { index said(of: "x") { by } } } ...More } page { edges { cursor node { said(of: "x") { credit } } } } } fragment More on Page { edges { node { ...T ... { names } ...T } } } fragment T on Turn { reward }',
  ],
  [
    'what is left out',
    'query ($no: Boolean = false) { page { edges { node { index @include(if: $no) reward @skip(if: true) ...T @include(if: false) ... on Turn @skip(if: true) { names } required } } info @skip(if: $no) { hasMore } } } fragment T on Turn { said(of: "x") { by } }',
  ],
  ['a missing argument', 'query ($nobody: ID) { page { edges { node { index said(of: $nobody) { by } } } } }'],
])('answers as GraphQL does: %s', (_, query) => {
  const variables = { of: 'grpo', no: false };
  const expected = asGraphQL(query, PAGE, variables);
  expect(JSON.parse(JSON.stringify(asPlanned(query, PAGE, variables)))).toEqual(JSON.parse(JSON.stringify(expected)));
});

it.each<[string, (page: any) => void]>([
  ['no number where there may be null', ({ edges }) => (edges[0].node.reward = Infinity)],
  ['no number in several places', ({ edges }) => edges.forEach(({ node }: any) => (node.reward = 'much'))],
  ['null where there must be something', ({ edges }) => (edges[1].node.index = null)],
  ['nothing where there must be something', ({ edges }) => delete edges[1].cursor],
  ['null where an object must be', ({ edges }) => (edges[0].node.said[0] = { credit: NaN })],
  ['null in a list that may be null itself', ({ edges }) => (edges[0].node.required = [1, null, NaN])],
  [
    'null in a list, and something else after it',
    ({ edges }) => {
      edges[0].node.required = [1, null];
      edges[1].node.reward = 'much';
    },
  ],
  ['null in an object that may be null itself', ({ info }) => (info.hasMore = null)],
  ['an error instead of a value', ({ edges }) => (edges[0].node.names = ['x', new Error('lost')])],
  ['an object that is not there', (page) => (page.info = null)],
])('says what is wrong as GraphQL does: %s', (_, spoil) => {
  const page = structuredClone(PAGE);
  spoil(page);
  const expected = asGraphQL(EVERYTHING, page, { of: 'grpo' });
  const found = asPlanned(EVERYTHING, page, { of: 'grpo' });
  expect(JSON.parse(JSON.stringify(found))).toEqual(JSON.parse(JSON.stringify(expected)));
});
