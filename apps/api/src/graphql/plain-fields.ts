import {
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  locatedError,
  type FieldNode,
  type GraphQLError,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type SelectionSetNode,
} from 'graphql';

/** One value on its way into the answer. @throws GraphQLError where it is null or wrong and must not be */
export type Answer = (value: unknown, walk: Walk) => unknown;

/** Where it is at, and what went wrong so far where null may stand instead. */
export interface Walk {
  readonly context: unknown;
  readonly path: (string | number)[];
  readonly errors: GraphQLError[];
}

/** A field that is loaded for all objects that have it before any of them is answered. */
export interface LoadedField {
  readonly args: Readonly<Record<string, unknown>>;
  /** names of what is asked for below it */
  readonly columns: ReadonlySet<string>;
  /** by the object that has it; an Error: it could not be loaded */
  readonly values: Map<unknown, unknown>;
}

export interface Plan {
  readonly answer: Answer;
  readonly loaded: readonly LoadedField[];
}

interface Planning {
  readonly info: Pick<GraphQLResolveInfo, 'fragments' | 'variableValues'>;
  readonly isLoaded: (field: string) => boolean;
  readonly loaded: LoadedField[];
}

/**
 * How objects that are in memory already are answered: what GraphQL does with them, but without promises, and without a
 * path and a place in the query for every number. Their resolvers must not be asynchronous, and have no arguments, apart
 * from those that are loaded before.
 *
 * @param isLoaded of a field, such as `Turn.credit`
 */
export function planOf(
  info: Planning['info'],
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  isLoaded: Planning['isLoaded'],
): Plan {
  const loaded: LoadedField[] = [];
  return { answer: objectAnswer({ info, isLoaded, loaded }, type, selections), loaded };
}

/** An object without any inherited property, since a query may call its fields as it likes. */
const Fields = function () {} as unknown as new () => Record<string, unknown>;
Fields.prototype = Object.create(null);

function objectAnswer(planning: Planning, type: GraphQLObjectType, selections: readonly SelectionSetNode[]): Answer {
  const fields = [...selected(planning, type, selections)].map(([key, nodes]) => ({
    key,
    answer: fieldAnswer(planning, type, nodes),
  }));
  return (value, walk) => {
    const answered = new Fields();
    for (const { key, answer } of fields) {
      walk.path.push(key);
      answered[key] = answer(value, walk);
      walk.path.pop();
    }
    return answered;
  };
}

function fieldAnswer(planning: Planning, type: GraphQLObjectType, nodes: readonly FieldNode[]): Answer {
  const name = nodes[0].name.value;
  if (name === '__typename') return () => type.name;
  const field = type.getFields()[name];
  const fullName = `${type.name}.${name}`;
  const place = { nodes, fullName };
  if (planning.isLoaded(fullName)) return guarded(planning, field.type, place, loadedValue(planning, type, nodes));
  const { resolve } = field;
  const valueOf: Answer = resolve
    ? (source, { context }) => resolve(source, {}, context, undefined as never)
    : (source) => (source as Record<string, unknown>)[name];
  return guarded(planning, field.type, place, valueOf);
}

function loadedValue(planning: Planning, type: GraphQLObjectType, nodes: readonly FieldNode[]): Answer {
  const field = type.getFields()[nodes[0].name.value];
  try {
    const args = getArgumentValues(field, nodes[0], planning.info.variableValues);
    const below = selected(planning, getNamedType(field.type) as GraphQLObjectType, selectionsOf(nodes));
    const columns = new Set([...below.values()].map(([node]) => node.name.value));
    const values = new Map<unknown, unknown>();
    planning.loaded.push({ args, columns, values });
    return (source) => values.get(source);
  } catch (error) {
    return () => error; // arguments that are wrong are so for each object that has the field, and for none otherwise
  }
}

/** What one value comes to, or null and an error, or the error alone where null must not stand. */
function guarded(
  planning: Planning,
  type: GraphQLOutputType,
  { nodes, fullName }: { readonly nodes: readonly FieldNode[]; readonly fullName: string },
  valueOf: Answer,
): Answer {
  const isNeeded = isNonNullType(type);
  const answer = presentAnswer(planning, isNeeded ? type.ofType : type, { nodes, fullName });
  return (source, walk) => {
    const depth = walk.path.length;
    try {
      const value = valueOf(source, walk);
      if (value instanceof Error) throw value;
      if (value !== null && value !== undefined) return answer(value, walk);
      if (!isNeeded) return null;
      throw new Error(`Cannot return null for non-nullable field ${fullName}.`);
    } catch (error) {
      const located = locatedError(error, nodes, [...walk.path]);
      if (isNeeded) throw located;
      walk.errors.push(located);
      walk.path.length = depth;
      return null;
    }
  };
}

/** Of a value that is there. */
function presentAnswer(
  planning: Planning,
  type: GraphQLOutputType,
  place: { readonly nodes: readonly FieldNode[]; readonly fullName: string },
): Answer {
  if (isLeafType(type)) return (value) => type.serialize(value);
  if (isObjectType(type)) return objectAnswer(planning, type, selectionsOf(place.nodes));
  if (!isListType(type)) throw new TypeError(`${place.fullName} is neither a value, an object nor a list`);
  const item = guarded(planning, type.ofType, place, (value) => value);
  return (values, walk) => {
    const answered: unknown[] = [];
    for (const value of values as Iterable<unknown>) {
      walk.path.push(answered.length);
      answered.push(item(value, walk));
      walk.path.pop();
    }
    return answered;
  };
}

const selectionsOf = (nodes: readonly FieldNode[]) => nodes.flatMap(({ selectionSet }) => selectionSet ?? []);

/** The fields asked for, by the names that the caller gave them; the same name may stand at several places. */
function selected(
  { info: { fragments, variableValues } }: Planning,
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const seen = new Set<string>();
  const take = ({ selections: nodes }: SelectionSetNode) => {
    for (const node of nodes) {
      if (getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.if === true) continue;
      if (getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.if === false) continue;
      if (node.kind === Kind.FIELD) {
        const key = (node.alias ?? node.name).value;
        fields.set(key, [...(fields.get(key) ?? []), node]);
        continue;
      }
      if (node.kind === Kind.FRAGMENT_SPREAD && seen.has(node.name.value)) continue;
      if (node.kind === Kind.FRAGMENT_SPREAD) seen.add(node.name.value);
      const { typeCondition, selectionSet } = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value];
      if (!typeCondition || typeCondition.name.value === type.name) take(selectionSet);
    }
  };
  selections.forEach(take);
  return fields;
}
