import {
  getNamedType,
  isObjectType,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import type { PageArgs } from '../graphql/connection.js';
import type { RequestContext } from '../graphql/request-context.js';
import type { Trajectory, Turn } from './trajectory.object.js';
import { TurnResolver } from './trajectory.resolver.js';
import { isLoadedByPage, turnPage } from './turn-pages.js';

/** At once: `turnPage` does not wait for what the fields of a turn say. */
type Said = (turn: Turn) => string | number | null;
type Credit = GraphQLFieldResolver<Turn, RequestContext, { readonly analysis: string }>;

const turns = new TurnResolver();
const FIELDS: Readonly<Record<Exclude<keyof TurnResolver, 'credit'>, Said> & { credit: Credit }> = {
  stateKey: (turn) => turns.stateKey(turn),
  stateExcerpt: (turn) => turns.stateExcerpt(turn),
  actionExcerpt: (turn) => turns.actionExcerpt(turn),
  credit: (turn, { analysis }, context) => turns.credit(turn, analysis, context),
};

/**
 * Lets GraphQL call the resolvers of turns itself. Nest comes to each call by way of pipes and interceptors, of which a
 * turn has none: eight promises a call. A group of 64 x 20 turns was answered in 30 ms of processor time with them.
 */
export function resolveTurnsDirectly(schema: GraphQLSchema): GraphQLSchema {
  const fields = (schema.getType('Turn') as GraphQLObjectType).getFields();
  const { turns: page } = (schema.getType('Trajectory') as GraphQLObjectType<Trajectory, RequestContext>).getFields();
  page.resolve = turnPage as GraphQLFieldResolver<Trajectory, RequestContext, PageArgs>;
  for (const [name, resolve] of Object.entries(FIELDS))
    fields[name].resolve = resolve as GraphQLFieldResolver<unknown, unknown>;
  assertAnswerable(getNamedType(page.type) as GraphQLObjectType);
  return schema;
}

const direct = new Set<unknown>(Object.values(FIELDS));
/** How Nest resolves a field that is no method: it reads the property. */
const READS_PROPERTY = 'rootFieldResolver';

/**
 * `turnPage` answers in one pass: nothing is waited for in it, and no field has arguments, but those it loads before.
 *
 * @param type of a page of turns
 * @throws TypeError naming a field, its own or below it, that it would answer wrongly
 */
function assertAnswerable(type: GraphQLObjectType, seen = new Set<GraphQLObjectType>()): void {
  if (seen.has(type)) return;
  seen.add(type);
  for (const { name, args, resolve, type: given } of Object.values(type.getFields())) {
    const field = `${type.name}.${name}`;
    const isRead = resolve === undefined || resolve.name === READS_PROPERTY || direct.has(resolve);
    if (args.length > 0 && !isLoadedByPage(field)) {
      throw new TypeError(
        `${field} has arguments, which a page of turns cannot be asked with: load it in turn-pages.ts`,
      );
    }
    if (!isRead) throw new TypeError(`${field} is called by Nest, which a page of turns does not wait for: call it in turn-fields.ts`); // prettier-ignore
    const below = getNamedType(given);
    if (isObjectType(below)) assertAnswerable(below, seen);
  }
}
