import { type DynamicModule } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import type { Principal } from '#lib/access';
import type { FastifyRequest } from 'fastify';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { ApiPorts } from '../ports.js';
import { errorFormatter } from './error-formatter.js';
import { assertAffordable } from './query-cost.js';
import { contextOf, requestContext } from './request-context.js';
import { Json, Position } from './scalars.js';

/** Deep enough for a trajectory with its turns and their credit, and for the introspection of tools. */
const MAX_DEPTH = 16;

/** What a websocket's first message may say. */
interface ConnectionParams {
  readonly authorization?: unknown;
  readonly Authorization?: unknown;
}

interface SocketContext {
  readonly principal: Principal | null;
}

/** GraphQL over HTTP and graphql-ws at /graphql: Mercurius, compiled queries, bounded depth and cost. */
export function graphqlModule(ports: ApiPorts, logger: Logger): DynamicModule {
  return GraphQLModule.forRoot<MercuriusDriverConfig>({
    driver: MercuriusDriver,
    autoSchemaFile: true,
    sortSchema: true,
    path: '/graphql',
    graphiql: false,
    jit: 1,
    queryDepth: MAX_DEPTH,
    resolvers: { JSON: Json, Position },
    errorFormatter: errorFormatter(logger) as NonNullable<MercuriusDriverConfig['errorFormatter']>,
    context: (request: FastifyRequest) => contextOf(ports, request),
    subscription: {
      context: async (_socket: unknown, request: FastifyRequest): Promise<SocketContext> => ({
        principal: request.principal,
      }),
      onConnect: ({ payload }: { payload?: ConnectionParams }) => principalOf(ports, payload),
    },
    hooks: {
      preExecution: async (
        schema: GraphQLSchema,
        document: DocumentNode,
        _context: unknown,
        variables: Record<string, unknown>,
      ) => {
        assertAffordable(schema, document, variables ?? {});
      },
      preSubscriptionExecution: async (_schema: GraphQLSchema, _document: DocumentNode, context: object) => {
        Object.assign(context, requestContext(ports, (context as SocketContext).principal));
      },
    },
  });
}

/** A browser cannot set headers on a websocket, so the key may come in the first message; then it is the one that counts. */
async function principalOf(
  { authenticator }: ApiPorts,
  payload: ConnectionParams | undefined,
): Promise<Partial<SocketContext>> {
  const said = payload?.authorization ?? payload?.Authorization;
  return typeof said === 'string' ? { principal: await authenticator.authenticate(said) } : {};
}
