import { confine, requireRole, type Confined, type Principal, type Role } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { credentialsOf } from '../dashboard/credentials.js';
import { isOpen } from '../dashboard/open-route.js';
import type { ApiPorts } from '../ports.js';
import type { Drain } from './drain.js';
import { sendProblem } from './problem.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** who sent it; null only where no key is asked for */
    principal: Principal | null;
    /** the code of the problem that it was answered with */
    problem: string | null;
  }
}

/** The only address that answers a program without a key. */
const OPEN = '/healthz';
/** Answers while the platform stops, to say so. */
const READY = '/readyz';

/**
 * No data without a key: only /healthz, and the routes that say they are open (the dashboard's files and its sign-in)
 * answer without one. Nor without limits: what a key asks for too fast waits. Websockets do not come this way: see
 * SubscriptionServer.
 */
export function admit(ports: ApiPorts, drain: Drain) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.principal = null;
    request.problem = null;
    void reply.header('x-request-id', request.id);
    const path = request.url.split('?', 1)[0];
    try {
      if (path !== OPEN && path !== READY) drain.assertOpen();
      drain.enter(reply);
      if (path === OPEN || isOpen(request)) return;
      const principal = await principalOf(ports, request);
      request.principal = principal;
      ports.limiter?.assertWithin(principal, 'requestsPerSecond');
      ports.limiter?.charge(principal, 'requestsPerSecond', 1);
    } catch (error) {
      await sendProblem(reply, error);
    }
  };
}

/** Who sends a request. @throws RecreditError `key.missing`, `key.invalid`, `database.unavailable` */
export async function principalOf({ authenticator }: ApiPorts, request: FastifyRequest): Promise<Principal> {
  try {
    return await authenticator.authenticate(credentialsOf(request));
  } catch (cause) {
    if (cause instanceof RecreditError) throw cause;
    throw new RecreditError('database.unavailable', 'the database did not say whose key this is', {}, { cause });
  }
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
