import { confine, requireRole, type Authenticator, type Confined, type Principal, type Role } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { credentialsOf } from '../dashboard/credentials.js';
import { isOpen } from '../dashboard/open-route.js';
import type { ApiPorts } from '../ports.js';
import { sendProblem } from './problem.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** who sent it; null only where no key is asked for */
    principal: Principal | null;
  }
}

/** The only address that answers a program without a key. */
const OPEN = '/healthz';

/**
 * No data without a key: only /healthz, and the routes that say they are open (the dashboard's files and its sign-in)
 * answer without one. Websockets do not come this way: see SubscriptionServer.
 */
export function authenticate(authenticator: Authenticator) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.principal = null;
    if (request.url.split('?', 1)[0] === OPEN || isOpen(request)) return;
    try {
      request.principal = await authenticator.authenticate(credentialsOf(request));
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
