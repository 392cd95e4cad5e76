import { type DynamicModule } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { RecreditError } from '#lib/kernel';
import { shown } from '#lib/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Kind, OperationTypeNode, type DocumentNode, type GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { sendProblem } from '../http/problem.js';
import type { ApiPorts } from '../ports.js';
import { resolveTurnsDirectly } from '../trajectories/turn-fields.js';
import { putPagesBack, withoutTurns } from '../trajectories/turn-pages.js';
import { errorFormatter } from './error-formatter.js';
import { assertAffordable } from './query-cost.js';
import { contextOf } from './request-context.js';

/** Deep enough for a trajectory with its turns and their credit, and for the introspection of tools. */
const MAX_DEPTH = 16;
/** Checking a query takes the square of its length. */
const MAX_TOKENS = 5_000;

/** GraphQL by POST at /graphql: Mercurius, compiled queries, bounded length, depth and cost. */
export function graphqlModule(ports: ApiPorts, logger: Logger): DynamicModule {
  return GraphQLModule.forRoot<MercuriusDriverConfig>({
    driver: MercuriusDriver,
    autoSchemaFile: true,
    sortSchema: true,
    transformSchema: resolveTurnsDirectly,
    path: '/graphql',
    graphiql: false,
    jit: 1,
    queryDepth: MAX_DEPTH,
    graphql: { parseOptions: { maxTokens: MAX_TOKENS } },
    errorFormatter: errorFormatter(logger),
    context: (request: FastifyRequest) => contextOf(ports, request),
    additionalRouteOptions: { preHandler: [onlyPost, onlyText] },
    hooks: { preExecution, onResolution: putPagesBack },
  });
}

async function onlyPost({ method }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (method === 'POST') return;
  void reply.header('allow', 'POST');
  const how = 'ask by POST; subscriptions by graphql-ws';
  await sendProblem(reply, new RecreditError('request.invalid', how, { status: 405 }));
}

/** Mercurius takes JSON for a query that is parsed already: unbounded in length, and of any shape. No query is JSON. */
async function onlyText({ body }: FastifyRequest): Promise<void> {
  const { query } = (body ?? {}) as { readonly query?: unknown };
  if (typeof query !== 'string' || !isJson(query)) return; // without any, Mercurius says so
  throw new RecreditError('query.invalid', `query: GraphQL was wanted, found ${shown(query)}`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function preExecution(
  schema: GraphQLSchema,
  document: DocumentNode,
  _context: unknown,
  variables: Record<string, unknown> | null,
) {
  assertAffordable(schema, document, variables ?? {});
  // Mercurius remembers what it compiled by the text alone, so of several operations it would run the wrong one
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (operations.some(({ operation }) => operation === OperationTypeNode.SUBSCRIPTION)) {
    throw new RecreditError('query.invalid', 'ask for subscriptions by graphql-ws, not by POST');
  }
  const shortened = withoutTurns(schema, document);
  return shortened || operations.length > 1 ? { document: shortened ?? document } : undefined;
}
