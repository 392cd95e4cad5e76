import { RecreditError } from '#lib/kernel';
import {
  getNamedType,
  isCompositeType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { DEFAULT_PAGE } from './connection.js';

/** Objects that one query may ask for, at most. */
export const MAX_OBJECTS = 100_000;

interface Walk {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * How many objects a query asks for at most: every field that is an object counts once for each object it hangs on, and
 * below a list with `first` everything counts so many times.
 */
export function queryCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
): number {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  let cost = 0;
  for (const node of document.definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue;
    const root = schema.getRootType(node.operation);
    if (root) cost += selectionCost({ schema, fragments, variables }, node.selectionSet, root);
  }
  return cost;
}

/** @throws RecreditError `query.too-costly` */
export function assertAffordable(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
): void {
  const cost = queryCost(schema, document, variables);
  if (cost <= MAX_OBJECTS) return;
  throw new RecreditError(
    'query.too-costly',
    `a query may ask for up to ${MAX_OBJECTS} objects, this one asks for ${cost}: ask for shorter pages`,
    {
      maximum: MAX_OBJECTS,
      found: cost,
    },
  );
}

function selectionCost(walk: Walk, { selections }: SelectionSetNode, type: GraphQLCompositeType): number {
  let cost = 0;
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) cost += fieldCost(walk, selection, type);
    else if (selection.kind === Kind.INLINE_FRAGMENT)
      cost += selectionCost(walk, selection.selectionSet, named(walk, selection.typeCondition?.name.value) ?? type);
    else {
      const fragment = walk.fragments.get(selection.name.value);
      if (fragment)
        cost += selectionCost(walk, fragment.selectionSet, named(walk, fragment.typeCondition.name.value) ?? type);
    }
  }
  return cost;
}

function fieldCost(walk: Walk, node: FieldNode, parent: GraphQLCompositeType): number {
  const field = isObjectType(parent) ? parent.getFields()[node.name.value] : undefined;
  const type = field && getNamedType(field.type);
  if (!node.selectionSet || !type || !isCompositeType(type)) return 0;
  const isPaged = field.args.some(({ name }) => name === 'first');
  const times = isPaged ? pageOf(walk, node) : 1;
  return 1 + times * selectionCost(walk, node.selectionSet, type);
}

function pageOf({ variables }: Walk, { arguments: args }: FieldNode): number {
  const value = args?.find(({ name }) => name.value === 'first')?.value;
  if (value?.kind === Kind.INT) return Number(value.value);
  if (value?.kind === Kind.VARIABLE) return Number(variables[value.name.value] ?? DEFAULT_PAGE);
  return DEFAULT_PAGE;
}

function named({ schema }: Walk, name: string | undefined): GraphQLCompositeType | undefined {
  const type = name ? schema.getType(name) : undefined;
  return isCompositeType(type) ? type : undefined;
}
