import { RecreditError } from '#lib/kernel';
import {
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { DEFAULT_PAGE, MAX_PAGE } from './connection.js';

/** Objects that one query may ask for, at most. */
export const MAX_OBJECTS = 100_000;
/** Fields that one query may have once its fragments are written out: compiling it takes time too. */
export const MAX_FIELDS = 3_000;

/** What one object of a type weighs, where it is more than a row of a table. */
const WEIGHT: Readonly<Record<string, number>> = {
  Turn: 10, // read from the log
  LoggedEvent: 10,
  Estimate: 25_000, // computed for whoever asks
  VerifiedLog: 25_000, // 4 MiB of the log are unpacked and hashed
  CreditSample: 50_000, // the credit files of some training steps are read
};
/** A point of a curve is less than an object. */
const POINTS_PER_OBJECT = 10;
/** About how long the lists of the schema itself are: they can be nested in each other without end. */
const INTROSPECTED: Readonly<Record<string, number>> = { types: 100, fields: 10, inputFields: 10, args: 3 };

/** What a query asks for, at most. */
export interface QueryCost {
  readonly fields: number;
  readonly objects: number;
}

const NOTHING: QueryCost = { fields: 0, objects: 0 };
const ENDLESS: QueryCost = { fields: Infinity, objects: Infinity };

interface Walk {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** of fragments walked already, so that spreads within spreads take no longer than their text */
  readonly known: Map<string, QueryCost>;
  readonly variables: ReadonlyMap<string, unknown>;
}

/**
 * How many objects a query asks for at most: every field that is an object counts once for each object it hangs on, and
 * below a list with `first` everything counts so many times. Takes as long as the query is, whatever it spreads.
 */
export function queryCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>> = {},
): QueryCost {
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const costs = operations.map((operation) =>
    selectionCost(
      {
        schema,
        fragments: new Map(fragments.map((fragment) => [fragment.name.value, fragment])),
        known: new Map(),
        variables: variableValues(operation, variables),
      },
      operation.selectionSet,
      schema.getRootType(operation.operation) ?? undefined,
    ),
  );
  return costs.reduce(plus, NOTHING);
}

/** @throws RecreditError `query.too-costly` */
export function assertAffordable(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables?: Readonly<Record<string, unknown>>,
): void {
  const { fields, objects } = queryCost(schema, document, variables);
  if (fields > MAX_FIELDS) throw tooCostly('fields', fields, MAX_FIELDS, 'ask for less at once');
  if (objects > MAX_OBJECTS) throw tooCostly('objects', objects, MAX_OBJECTS, 'ask for shorter pages');
}

function tooCostly(what: string, found: number, maximum: number, advice: string): RecreditError {
  const shown = Number.isFinite(found) ? found : 'endlessly many';
  const message = `a query may ask for up to ${maximum} ${what}, this one asks for ${shown}: ${advice}`;
  return new RecreditError('query.too-costly', message, {
    what,
    maximum,
    found: Number.isFinite(found) ? found : null,
  });
}

const plus = (a: QueryCost, b: QueryCost): QueryCost => ({
  fields: a.fields + b.fields,
  objects: a.objects + b.objects,
});

function selectionCost(
  walk: Walk,
  { selections }: SelectionSetNode,
  type: GraphQLCompositeType | undefined,
): QueryCost {
  let cost = NOTHING;
  for (const selection of selections) {
    switch (selection.kind) {
      case Kind.FIELD:
        cost = plus(cost, fieldCost(walk, selection, type));
        break;
      case Kind.INLINE_FRAGMENT:
        cost = plus(
          cost,
          selectionCost(walk, selection.selectionSet, named(walk, selection.typeCondition?.name.value) ?? type),
        );
        break;
      case Kind.FRAGMENT_SPREAD:
        cost = plus(cost, fragmentCost(walk, selection.name.value));
    }
  }
  return cost;
}

function fragmentCost(walk: Walk, name: string): QueryCost {
  const fragment = walk.fragments.get(name);
  if (!fragment) return NOTHING;
  const known = walk.known.get(name);
  if (known) return known;
  walk.known.set(name, ENDLESS); // what it is where it spreads itself
  const cost = selectionCost(walk, fragment.selectionSet, named(walk, fragment.typeCondition.name.value));
  walk.known.set(name, cost);
  return cost;
}

function fieldCost(walk: Walk, node: FieldNode, parent: GraphQLCompositeType | undefined): QueryCost {
  const field = fieldOf(walk, node.name.value, parent);
  const type = field && getNamedType(field.type);
  if (!node.selectionSet) return { fields: 1, objects: 0 };
  const below = selectionCost(walk, node.selectionSet, isCompositeType(type) ? type : undefined);
  const times = field ? timesOf(walk, node, field, parent) : 1;
  return { fields: 1 + below.fields, objects: (WEIGHT[type?.name ?? ''] ?? 1) + times * below.objects };
}

function fieldOf(
  { schema }: Walk,
  name: string,
  parent: GraphQLCompositeType | undefined,
): GraphQLField<unknown, unknown> | undefined {
  if (name === SchemaMetaFieldDef.name && parent === schema.getQueryType()) return SchemaMetaFieldDef;
  if (name === TypeMetaFieldDef.name && parent === schema.getQueryType()) return TypeMetaFieldDef;
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
}

/** How often what hangs on a field is there for one object that has the field. */
function timesOf(
  walk: Walk,
  node: FieldNode,
  { args, name }: GraphQLField<unknown, unknown>,
  parent: GraphQLCompositeType | undefined,
): number {
  if (parent?.name.startsWith('__')) return INTROSPECTED[name] ?? 1;
  const argument = args.find((one) => one.name === 'first' || one.name === 'points');
  if (!argument) return 1;
  const asked = valueOf(walk, node.arguments?.find((one) => one.name.value === argument.name)?.value);
  if (argument.name === 'points') return atLeastOne(asked, Number(argument.defaultValue)) / POINTS_PER_OBJECT;
  return Math.min(atLeastOne(asked, DEFAULT_PAGE), MAX_PAGE);
}

/** What is no such number is refused where it is used. Here it must not make anything cheaper. */
function atLeastOne(asked: unknown, otherwise: number): number {
  return typeof asked === 'number' && Number.isFinite(asked) ? Math.max(asked, 1) : otherwise;
}

function valueOf({ variables }: Walk, value: ValueNode | undefined): unknown {
  if (value?.kind === Kind.INT) return Number(value.value);
  return value?.kind === Kind.VARIABLE ? variables.get(value.name.value) : undefined;
}

/** What was sent, and the operation's own defaults for what was not. */
function variableValues(
  { variableDefinitions = [] }: OperationDefinitionNode,
  sent: Readonly<Record<string, unknown>>,
) {
  return new Map(
    variableDefinitions.map(({ variable, defaultValue }): [string, unknown] => {
      const name = variable.name.value;
      if (Object.hasOwn(sent, name)) return [name, sent[name]];
      return [name, defaultValue?.kind === Kind.INT ? Number(defaultValue.value) : undefined];
    }),
  );
}

function named({ schema }: Walk, name: string | undefined): GraphQLCompositeType | undefined {
  const type = name === undefined ? undefined : schema.getType(name);
  return isCompositeType(type) ? type : undefined;
}
