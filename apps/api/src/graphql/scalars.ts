import { GraphQLError, GraphQLScalarType, Kind, valueFromASTUntyped } from 'graphql';

/** Any JSON value, as it is. */
export const Json = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (ast, variables) => valueFromASTUntyped(ast, variables),
});

/** A place in the event stream of a run. Runs may hold more than 2^31 events, which is where Int ends. */
export const Position = new GraphQLScalarType<number, number>({
  name: 'Position',
  description: 'A place in the event stream of a run, counted from 0; as a limit it is exclusive.',
  serialize: (value) => Number(value),
  parseValue: positionOf,
  parseLiteral: (ast) => {
    if (ast.kind !== Kind.INT) throw new GraphQLError(`a position was wanted, found a ${ast.kind}`);
    return positionOf(Number(ast.value));
  },
});

function positionOf(value: unknown): number {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw new GraphQLError(`a position is a whole number from 0, found ${String(value)}`);
}
