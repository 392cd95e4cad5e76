import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ApiModule } from './api.module.js';
import { letRequestsDieYoung, weighBuffersWithHeap } from './collector.js';
import { BUILT_DASHBOARD, serveDashboard } from './dashboard/serve-dashboard.js';
import { Figures } from './figures/figures.js';
import { answered } from './http/answered.js';
import { admit } from './http/caller.js';
import { Drain } from './http/drain.js';
import { answerProblem, ProblemFilter, sendProblem } from './http/problem.js';
import { requestId } from './http/request-id.js';
import type { ApiPorts } from './ports.js';
import { serveTraces } from './traces/serve-traces.js';

const MAX_JSON_BYTES = 4 * 1024 * 1024;
/** What a batch may weigh on the wire; what it may weigh decoded is the protocol's business. */
const MAX_WIRE_BYTES = 17 * 1024 * 1024;

/** How long what is under way may take when the platform stops. */
const DRAIN_MS = 10_000;

export interface Api {
  readonly url: string;
  /** Takes nothing new (503), answers what is under way, for a while. It still listens, to say so. */
  drain(): Promise<void>;
  /** the same, and listens no more */
  close(): Promise<void>;
}

export interface ApiOptions {
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
}

/** Starts the API on the address given, in a process of its own; port 0 takes a free one. */
export async function startApi(ports: ApiPorts, { host, port, logger }: ApiOptions): Promise<Api> {
  weighBuffersWithHeap();
  letRequestsDieYoung();
  const app = await createApi(ports, logger);
  try {
    await app.listen(port, host);
  } catch (error) {
    await app.close(); // what listens to the database holds a connection, and the pool's end would wait for it
    throw error;
  }
  const drain = () => app.get(Drain).begin(DRAIN_MS);
  const close = async () => {
    await drain();
    app.getHttpServer().closeAllConnections(); // what is not answered by now is a download that nobody reads
    await app.close();
  };
  return { url: await app.getUrl(), drain, close };
}

/** Nest sets an error handler too late for some of the routes, and Fastify warns of the second one. */
class ProblemAdapter extends FastifyAdapter {
  override setErrorHandler() {
    return this.getInstance();
  }
}

/**
 * The API, not listening yet.
 *
 * @param dashboard folder of the built dashboard; without one there is none
 */
export async function createApi(
  ports: ApiPorts,
  logger: Logger,
  dashboard = BUILT_DASHBOARD,
): Promise<NestFastifyApplication> {
  const adapter = new ProblemAdapter({
    bodyLimit: MAX_JSON_BYTES,
    forceCloseConnections: 'idle',
    genReqId: requestId,
    // what is no URL at all is refused before any route is looked for
    frameworkErrors: (error: unknown, _request: FastifyRequest, reply: FastifyReply) => void sendProblem(reply, error),
  });
  const fastify = adapter.getInstance();
  // what no filter sees: what is refused before a handler is called, such as a Content-Type that is none
  fastify.setErrorHandler((error: unknown, _request: FastifyRequest, reply: FastifyReply) =>
    answerProblem(reply, error, logger),
  );
  const drain = new Drain();
  const figures = new Figures(ports);
  fastify.decorateRequest('principal', null);
  fastify.decorateRequest('problem', null);
  fastify.addHook('onRequest', admit(ports, drain));
  fastify.addHook('onSend', async (_request, reply) => {
    if (drain.stopping) void reply.header('connection', 'close');
  });
  fastify.addHook('onResponse', answered(figures, logger));
  // batches are read by their handler, chunk by chunk, so that nothing unbounded is ever in memory
  fastify.addContentTypeParser(
    ['application/x-ndjson', 'application/ndjson'],
    { bodyLimit: MAX_WIRE_BYTES },
    (_request, body, done) => done(null, body),
  );
  void fastify.register(serveDashboard, { root: dashboard });
  void fastify.register(serveTraces, { ports, figures, bodyLimit: MAX_WIRE_BYTES });
  const app = await NestFactory.create<NestFastifyApplication>(ApiModule.on(ports, logger, drain, figures), adapter, {
    logger: false,
    abortOnError: false,
  });
  app.useGlobalFilters(new ProblemFilter(logger));
  await app.init();
  return app;
}
