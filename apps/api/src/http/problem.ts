import { STATUS_CODES } from 'node:http';
import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { ERROR_STATUS } from '#lib/kernel';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { publicError } from '../public-error.js';

/** Answers with RFC 9457 problem+json. `code` is what a program should look at. */
export async function sendProblem(reply: FastifyReply, error: unknown): Promise<void> {
  const { code, message, details } = publicError(error);
  // what the framework refuses keeps its own status: 404 for an unknown path, 405, 415
  const status = code === 'request.invalid' && typeof details.status === 'number' ? details.status : ERROR_STATUS[code];
  if (status === 429 || status === 503) void reply.header('retry-after', Number(details.retryAfterSeconds ?? 1));
  if (code === 'platform.stopping') void reply.header('connection', 'close');
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  const type = `urn:recredit:${code}`;
  const requestId = reply.request.id;
  const problem = { type, title: STATUS_CODES[status], status, code, detail: message, requestId, ...details };
  reply.request.problem = code;
  // clients of GraphQL look there
  const errors = isGraphql(reply) && { errors: [{ message, extensions: { code, status, details } }] };
  const body = JSON.stringify({ ...problem, ...errors });
  await reply.status(status).header('content-type', 'application/problem+json').send(body);
}

const isGraphql = ({ request }: FastifyReply) => request.url.split('?', 1)[0] === '/graphql';

/** The same for what nobody expected, which is logged where it is our fault. */
export async function answerProblem(reply: FastifyReply, error: unknown, logger: Logger): Promise<void> {
  if (publicError(error).code === 'internal.error') logger.error({ err: error, ...whoOf(reply) }, 'a request failed');
  if (!reply.sent) await sendProblem(reply, error);
}

/** Where an error is told: whose request it was, and which one. */
export function whoOf({ request }: FastifyReply) {
  const { id, principal, method, routeOptions } = request;
  return { requestId: id, keyId: principal?.keyId, method, route: routeOptions?.url };
}

/** One place where what a handler throws becomes an answer. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    if (host.getType<string>() === 'graphql') throw error;
    await answerProblem(host.switchToHttp().getResponse<FastifyReply>(), error, this.logger);
  }
}
