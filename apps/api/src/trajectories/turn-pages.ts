import {
  getNamedType,
  Kind,
  responsePathAsArray,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLError,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import type { Connection, PageArgs } from '../graphql/connection.js';
import { planOf, type Plan, type Walk } from '../graphql/plain-fields.js';
import type { RequestContext } from '../graphql/request-context.js';
import type { Trajectory, Turn, TurnCredit } from './trajectory.object.js';

/** A page of turns, answered, and where it belongs. */
interface AnsweredPage {
  readonly path: readonly (string | number)[];
  readonly answer: unknown;
}

type Placeholders = Record<string | number, unknown>;

/** Pages of turns that one request asks for. */
export interface TurnPages {
  readonly plans: Map<FieldNode, Plan>;
  readonly answered: AnsweredPage[];
}

export const noTurnPages = (): TurnPages => ({ plans: new Map(), answered: [] });

const documents = new WeakMap<DocumentNode, DocumentNode>();
/** What was asked for below a field, before it was taken out of the query. */
const takenOut = new WeakMap<FieldNode, SelectionSetNode>();

const PLACEHOLDER: SelectionSetNode = {
  kind: Kind.SELECTION_SET,
  selections: [{ kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } }],
};

/**
 * The query without what it asks of turns: `turnPage` answers that, and `putPagesBack` puts it where it belongs.
 *
 * A group of 64 x 20 turns with their credit is 13,000 values. GraphQL makes for each of them a path and a place in the
 * query, in case that it is wrong, and for each turn and its credit some promises: 9 MB of garbage in a request, as much
 * as all the rest.
 *
 * @returns undefined: it asks for no turns
 */
export function withoutTurns(schema: GraphQLSchema, document: DocumentNode): DocumentNode | undefined {
  const known = documents.get(document) ?? takeTurnsOut(schema, document);
  documents.set(document, known);
  return known === document ? undefined : known;
}

function takeTurnsOut(schema: GraphQLSchema, document: DocumentNode): DocumentNode {
  const types = new TypeInfo(schema);
  const enter = (node: FieldNode) => {
    if (types.getParentType()?.name !== 'Trajectory' || node.name.value !== 'turns' || !node.selectionSet) return;
    const emptied = { ...node, selectionSet: PLACEHOLDER };
    takenOut.set(emptied, node.selectionSet);
    return emptied;
  };
  return visit(document, visitWithTypeInfo(types, { Field: { enter } }));
}

/** Resolves `Trajectory.turns`. */
export async function turnPage(
  trajectory: Trajectory,
  page: PageArgs,
  context: RequestContext,
  info: GraphQLResolveInfo,
): Promise<Connection<Turn>> {
  const turns = await context.loaders.turns.load({ trajectory, page });
  if (!takenOut.has(info.fieldNodes[0])) return turns;
  const { turnPages: pages } = context;
  const plan = pages.plans.get(info.fieldNodes[0]) ?? planOfTurns(info);
  pages.plans.set(info.fieldNodes[0], plan);
  await loadCredit(plan, trajectory, turns, context);
  const path = responsePathAsArray(info.path);
  const walk: Walk = { context, path: [...path], errors: [] };
  pages.answered.push({ path, answer: plan.answer(turns, walk) });
  addErrors(context, walk.errors);
  return turns;
}

/** @param field such as `Turn.credit`, the one that `loadCredit` knows */
export const isLoadedByPage = (field: string) => field === 'Turn.credit';

function planOfTurns(info: GraphQLResolveInfo): Plan {
  const selections = info.fieldNodes.map((node) => takenOut.get(node)!);
  return planOf(info, getNamedType(info.returnType) as GraphQLObjectType, selections, isLoadedByPage);
}

async function loadCredit(
  { loaded }: Plan,
  { run: runId, id: trajectory, trainingStep }: Trajectory,
  { edges }: Connection<Turn>,
  { loaders }: RequestContext,
): Promise<void> {
  if (edges.length === 0) return;
  const indexes = edges.map(({ node }) => node.index);
  await Promise.all(
    loaded.map(async ({ args, columns, values }) => {
      const analysisId = args.analysis as string;
      const wanted = { analysisId, runId, trainingStep, trajectory, indexes, columns };
      const credit: readonly (TurnCredit[] | Error)[] = await loaders.creditOfTurns
        .load(wanted)
        .catch((error: Error) => indexes.map(() => error));
      edges.forEach(({ node }, i) => values.set(node, credit[i]));
    }),
  );
}

/** Where Mercurius looks for errors of which GraphQL knows nothing. */
function addErrors(
  context: RequestContext & { errors?: readonly GraphQLError[] | null },
  errors: GraphQLError[],
): void {
  if (errors.length > 0) context.errors = [...(context.errors ?? []), ...errors];
}

/** Mercurius' onResolution: pages of turns go where the query had them. A page above which null stands is not shown. */
export async function putPagesBack({ data }: { readonly data?: unknown }, context: object): Promise<void> {
  for (const { path, answer } of (context as RequestContext).turnPages.answered) {
    let parent = data as Placeholders | null | undefined;
    for (const key of path.slice(0, -1)) parent = parent?.[key] as Placeholders | null | undefined;
    if (parent?.[path.at(-1)!]) parent[path.at(-1)!] = answer;
  }
}
