import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Figures } from '../figures/figures.js';

/**
 * One line and one figure per answered request. What went well is for whoever looks closely (`debug`), what was refused
 * is news (`info`), and so is what took long; what failed by our fault was told when it happened. Addresses may hold
 * what a user named, so the declared route is told and the address is not.
 */
export function answered(figures: Figures, logger: Logger) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { method, principal, problem, id } = request;
    const route = request.routeOptions.url ?? '';
    const status = reply.statusCode;
    const ms = Math.round(reply.elapsedTime);
    figures.answered({ method, route, status, seconds: reply.elapsedTime / 1000, problem });
    const keyId = principal?.keyId;
    const line = {
      requestId: id,
      ...(keyId && { keyId }),
      method,
      route,
      status,
      ms,
      ...(problem && { code: problem }),
    };
    if (isNews(status, ms)) logger.info(line, 'request');
    else logger.debug(line, 'request');
  };
}

const SLOW_MS = 5_000;
/** A producer that is asked to wait is no news: it comes again, and again. */
const TOO_MANY = 429;

const isNews = (status: number, ms: number) => (status >= 400 && status !== TOO_MANY) || ms >= SLOW_MS;
