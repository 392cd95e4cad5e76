import { buildSchema, getIntrospectionQuery, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { assertAffordable, MAX_FIELDS, MAX_OBJECTS, queryCost } from './query-cost.js';

const SCHEMA = buildSchema(`
  type Query { run: Run runs(first: Int, after: String): Runs node: Node }
  type Subscription { run: Run }
  interface Node { id: ID! run: Run }
  type Run implements Node { id: ID! run: Run name: String runs(first: Int): Runs turns(first: Int): Turns metric(points: Int = 1000): Metric }
  type Runs { edges: [Edge!]! }
  type Edge { node: Run! }
  type Turns { edges: [TurnEdge!]! }
  type TurnEdge { node: Turn! }
  type Turn { text: String }
  type Metric { points: [Point!]! }
  type Point { value: Float }
`);

const cost = (query: string, variables?: Record<string, unknown>) => queryCost(SCHEMA, parse(query), variables);
const objects = (query: string, variables?: Record<string, unknown>) => cost(query, variables).objects;

describe('counts objects', () => {
  it.each<[string, number]>([
    ['{ run { id name } }', 1],
    ['{ run { run { run { id } } } }', 3],
    ['{ runs(first: 10) { edges { node { id } } } }', 1 + 10 * 2],
    ['{ runs { edges { node { id } } } }', 1 + 50 * 2],
    ['{ runs(first: 10) { edges { node { runs(first: 3) { edges { node { id } } } } } } }', 1 + 10 * (2 + 1 + 3 * 2)],
    ['{ a: run { id } b: run { id } }', 2],
    ['{ node { id ... on Run { runs(first: 2) { edges { node { id } } } } } }', 1 + 1 + 2 * 2],
    ['{ run { turns(first: 10) { edges { node { text } } } } }', 1 + 1 + 10 * (1 + 10)],
    ['{ run { metric { points { value } } } }', 1 + 1 + 100],
    ['{ run { metric(points: 20) { points { value } } } }', 1 + 1 + 2],
    ['query A { run { id } } query B { run { id } }', 2],
    ['subscription { run { run { id } } }', 2],
  ])('%s', (query, expected) => expect(objects(query)).toBe(expected));

  it('through fragments as if they were written out', () => {
    const spread = `{ ...All } fragment All on Query { runs(first: 10) { ...Page } } fragment Page on Runs { edges { node { id } } }`;
    expect(cost(spread)).toEqual(cost('{ runs(first: 10) { edges { node { id } } } }'));
  });
});

describe('is not made cheaper', () => {
  const whole = objects('{ runs { edges { node { id } } } }');
  it.each([
    ['null', '{ runs(first: null) { edges { node { id } } } }', undefined, whole],
    ['null in a variable', 'query ($n: Int) { runs(first: $n) { edges { node { id } } } }', { n: null }, whole],
    ['a variable not sent', 'query ($n: Int) { runs(first: $n) { edges { node { id } } } }', {}, whole],
    ['a default', 'query ($n: Int = 500) { runs(first: $n) { edges { node { id } } } }', {}, 1001],
    ['a variable over its default', 'query ($n: Int = 500) { runs(first: $n) { edges { node { id } } } }', { n: 1 }, 3],
    ['a negative number', '{ runs(first: -1000) { edges { node { id } } } }', undefined, 3],
    ['nonsense', 'query ($n: Int) { runs(first: $n) { edges { node { id } } } }', { n: 'x' }, whole],
    ['NaN', 'query ($n: Int) { runs(first: $n) { edges { node { id } } } }', { n: NaN }, whole],
    ['-0.5', 'query ($n: Int) { runs(first: $n) { edges { node { id } } } }', { n: -0.5 }, 3],
    [
      'a name of Object',
      'query ($constructor: Int) { runs(first: $constructor) { edges { node { id } } } }',
      {},
      whole,
    ],
  ])('by %s', (_name, query, variables, expected) => expect(objects(query, variables)).toBe(expected));
});

/** Each fragment spreads the one before twice, under other names. */
function bomb(levels: number): string {
  const fragments = Array.from(
    { length: levels },
    (_, i) => `fragment F${i + 1} on Run { a${i}: run { ...F${i} } b${i}: run { ...F${i} } }`,
  );
  return `{ run { ...F${levels} } } fragment F0 on Run { id } ${fragments.join('\n')}`;
}

describe('takes as long as the query is', () => {
  it('where spreads double', () => {
    expect(cost(bomb(10)).objects).toBe(2 ** 11 - 1);
    const started = performance.now();
    expect(cost(bomb(500)).objects).toBeGreaterThan(1e100);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it('where a fragment spreads itself', () => {
    const cycle = '{ run { ...A } } fragment A on Run { run { ...B } } fragment B on Run { run { ...A } }';
    expect(cost(cycle)).toEqual({ fields: Infinity, objects: Infinity });
    expect(() => assertAffordable(SCHEMA, parse(cycle))).toThrow('endlessly many');
  });
});

describe('refuses', () => {
  const refusal = (query: string) => {
    try {
      assertAffordable(SCHEMA, parse(query));
      return null;
    } catch (error) {
      return error;
    }
  };

  it('too many objects', () => {
    const query = '{ runs(first: 500) { edges { node { runs(first: 500) { edges { node { id } } } } } } }';
    expect(refusal(query)).toMatchObject({
      code: 'query.too-costly',
      details: { what: 'objects', maximum: MAX_OBJECTS },
    });
  });

  it('too many fields, written out or spread', () => {
    const names = Array.from({ length: MAX_FIELDS }, (_, i) => `f${i}: name`).join(' ');
    expect(refusal(`{ run { ${names} } }`)).toMatchObject({ code: 'query.too-costly', details: { what: 'fields' } });
    expect(refusal(bomb(12))).toMatchObject({ code: 'query.too-costly', details: { what: 'fields' } });
  });

  it('the schema nested in itself', () => {
    const nested = (levels: number): string => (levels === 0 ? 'name' : `fields { type { ${nested(levels - 1)} } }`);
    expect(refusal(`{ __schema { types { ${nested(4)} } } }`)).toMatchObject({ code: 'query.too-costly' });
  });

  it('not what tools ask of the schema', () => {
    expect(refusal(getIntrospectionQuery({ inputValueDeprecation: true }))).toBeNull();
  });
});
