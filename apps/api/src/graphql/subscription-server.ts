import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import type { GraphQLSchemaHost } from '@nestjs/graphql';
import { requireRole, type Principal } from '#lib/access';
import { messageOf, RecreditError } from '#lib/kernel';
import { getOperationAST, GraphQLError, OperationTypeNode, parse, validate } from 'graphql';
import { CloseCode, makeServer, type ServerOptions, type SubscribePayload } from 'graphql-ws';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { credentialsOf } from '../dashboard/credentials.js';
import type { Drain } from '../http/drain.js';
import type { ApiPorts } from '../ports.js';
import { publicError } from '../public-error.js';
import { codedErrors } from './error-formatter.js';
import { assertAffordable } from './query-cost.js';
import { requestContext } from './request-context.js';
import { serveSocket, socketServer, type SocketExtra } from './serve-socket.js';

const MAX_TOKENS = 1_000;
/** Of one connection; each watches the database. */
const MAX_SUBSCRIPTIONS = 100;

const FAREWELL_MS = 1_000;

/** What a websocket's first message may say. */
interface ConnectionParams extends Record<string, unknown> {
  readonly authorization?: unknown;
  readonly Authorization?: unknown;
}

interface Extra extends SocketExtra {
  principal?: Principal;
}

type Options = ServerOptions<ConnectionParams, Extra>;

/** Subscriptions over graphql-ws at /graphql; everything else is asked by POST. */
export class SubscriptionServer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #sockets = socketServer();

  constructor(
    private readonly ports: ApiPorts,
    private readonly logger: Logger,
    private readonly schemaHost: GraphQLSchemaHost,
    private readonly adapterHost: HttpAdapterHost,
    private readonly drain: Drain,
  ) {}

  onApplicationBootstrap(): void {
    const server = makeServer(this.#options());
    this.#sockets.on('connection', (socket, request) => serveSocket<Extra>(server, { socket, request }, this.logger));
    const http: Server = this.adapterHost.httpAdapter.getHttpServer();
    http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  beforeApplicationShutdown(): void {
    for (const socket of this.#sockets.clients) {
      socket.close(1001, 'Going away');
      setTimeout(() => socket.terminate(), FAREWELL_MS).unref();
    }
    this.#sockets.close();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const isOurs = request.url?.split('?', 1)[0] === '/graphql';
    if (isOurs && !this.drain.stopping) {
      this.#sockets.handleUpgrade(request, socket, head, (open) => this.#sockets.emit('connection', open, request));
    } else {
      socket.once('error', () => socket.destroy());
      const status = isOurs ? '503 Service Unavailable' : '404 Not Found';
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    }
  }

  #options(): Options {
    const { ports, logger } = this;
    return {
      onConnect: async ({ connectionParams, extra }) => {
        try {
          extra.principal = await ports.authenticator.authenticate(keyOf(extra.request, connectionParams));
          requireRole(extra.principal, 'read');
        } catch (error) {
          const { code, message } = publicError(error);
          if (code === 'internal.error') logger.error({ err: error }, 'a key could not be looked up');
          extra.socket.close(
            code === 'internal.error' ? CloseCode.InternalServerError : CloseCode.Unauthorized,
            `${code}: ${message}`,
          );
          return false;
        }
        return true;
      },
      onSubscribe: ({ subscriptions }, _id, payload) =>
        this.#refusals(payload, Object.keys(subscriptions).length) ?? undefined,
      schema: () => this.schemaHost.schema,
      context: ({ extra }) => requestContext(ports, extra.principal ?? null),
      onNext: (_context, _id, _payload, _args, { data = null, errors }) => ({
        data,
        ...(errors && { errors: codedErrors(errors, logger) }),
      }),
      onError: (_context, _id, _payload, errors) => codedErrors(errors, logger),
    };
  }

  /** What is wrong with a query; null: nothing. */
  #refusals({ query, operationName }: SubscribePayload, subscriptions: number): readonly GraphQLError[] | null {
    try {
      if (subscriptions > MAX_SUBSCRIPTIONS) {
        throw new RecreditError('query.too-costly', `a connection holds up to ${MAX_SUBSCRIPTIONS} subscriptions`);
      }
      const { schema } = this.schemaHost;
      const document = parse(query, { maxTokens: MAX_TOKENS });
      const invalid = validate(schema, document);
      if (invalid.length > 0) return invalid;
      if (getOperationAST(document, operationName)?.operation !== OperationTypeNode.SUBSCRIPTION) {
        throw new RecreditError('query.invalid', 'queries and mutations are asked by POST, here only subscriptions');
      }
      assertAffordable(schema, document);
      return null;
    } catch (error) {
      if (error instanceof GraphQLError) return [error];
      return [new GraphQLError(messageOf(error), { originalError: error instanceof Error ? error : null })];
    }
  }
}

/** A browser cannot set headers on a websocket, so the key may come in the first message; then it is the one that counts. */
function keyOf(request: IncomingMessage, params: ConnectionParams = {}): string | undefined {
  const said = params.authorization ?? params.Authorization;
  return typeof said === 'string' ? said : credentialsOf(request);
}
