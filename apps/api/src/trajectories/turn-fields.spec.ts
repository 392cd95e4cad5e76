import { buildSchema, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import { expect, it } from 'vitest';
import { resolveTurnsDirectly } from './turn-fields.js';

const schemaWith = (ofTurn = '', ofCredit = '') =>
  buildSchema(`
    type Query { trajectory: Trajectory! }
    type Trajectory { turns(first: Int): TurnConnection! }
    type TurnConnection { edges: [TurnEdge!]! }
    type TurnEdge { node: Turn! }
    type Turn { index: Int! stateKey: String stateExcerpt: String actionExcerpt: String
      credit(analysis: ID!): [TurnCredit!]! ${ofTurn} }
    type TurnCredit { credit: Float turn: Turn ${ofCredit} }
  `);

/** As Nest does with what is a method of a resolver. */
function methodOf(schema: GraphQLSchema, type: string, field: string): GraphQLSchema {
  (schema.getType(type) as GraphQLObjectType).getFields()[field].resolve = async () => 1;
  return schema;
}

it('takes fields that a page of turns answers', () => {
  const schema = schemaWith('signals: [String!]', 'level: String!');
  expect(resolveTurnsDirectly(schema)).toBe(schema);
});

it.each([
  ['Turn.excerpt has arguments', schemaWith('excerpt(length: Int): String')],
  ['TurnCredit.explain has arguments', schemaWith('', 'explain(name: String): Float')],
  ['Turn.notes is called by Nest', methodOf(schemaWith('notes: Int'), 'Turn', 'notes')],
  ['TurnEdge.node is called by Nest', methodOf(schemaWith(), 'TurnEdge', 'node')],
  ['TurnCredit.credit is called by Nest', methodOf(schemaWith(), 'TurnCredit', 'credit')],
])('refuses to start where %s', (fault, schema) => {
  expect(() => resolveTurnsDirectly(schema)).toThrow(fault);
});
