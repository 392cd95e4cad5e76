import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './graphql-env.js';

/** Documents typed by the API's schema. */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: { DateTime: string; JSON: unknown; Position: number };
}>();

export { readFragment, type FragmentOf, type ResultOf, type VariablesOf } from 'gql.tada';
