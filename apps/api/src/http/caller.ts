import { confine, requireRole, type Authenticator, type Confined, type Principal, type Role } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiPorts } from '../ports.js';
import { sendProblem } from './problem.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** who sent it; null only where no key is asked for */
    principal: Principal | null;
  }
}

/** The only address that answers without a key. */
const OPEN = '/healthz';

/** Nothing but /healthz answers without a key. A websocket says its key in its first message, if not in a header. */
export function authenticate(authenticator: Authenticator) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.principal = null;
    const path = request.url.split('?', 1)[0];
    const isUpgrade = request.headers.upgrade?.toLowerCase() === 'websocket' && path === '/graphql';
    if (path === OPEN || (isUpgrade && !request.headers.authorization)) return;
    try {
      request.principal = await authenticator.authenticate(request.headers.authorization);
    } catch (error) {
      await sendProblem(reply, error);
    }
  };
}

/** The caller, who must have the role. */
export function callerOf(request: FastifyRequest, role: Role): Principal {
  const { principal } = request;
  if (!principal) throw new RecreditError('key.missing', 'send a key: Authorization: Bearer rk_...');
  requireRole(principal, role);
  return principal;
}

/** The database as that caller sees it. */
export function seenBy({ pool }: ApiPorts, principal: Principal): Confined {
  return confine(pool, principal.projects);
}
