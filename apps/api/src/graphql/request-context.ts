import { confine, type Confined, type Principal } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import type { FastifyRequest } from 'fastify';
import type { ApiPorts } from '../ports.js';
import { noTurnPages, type TurnPages } from '../trajectories/turn-pages.js';
import { createLoaders, type Loaders } from './loaders.js';

/** What a resolver may use: who asks, the database as that caller sees it, and this request's loaders. */
export interface RequestContext {
  readonly caller: Principal;
  readonly db: Confined;
  readonly loaders: Loaders;
  readonly turnPages: TurnPages;
}

export function requestContext(ports: ApiPorts, caller: Principal | null): RequestContext {
  if (!caller) throw new RecreditError('key.missing', 'send a key: Authorization: Bearer rk_...');
  const db = confine(ports.pool, caller.projects);
  return { caller, db, loaders: createLoaders(db, ports), turnPages: noTurnPages() };
}

/** The context of a request over HTTP. */
export function contextOf(ports: ApiPorts, { principal }: FastifyRequest): RequestContext {
  return requestContext(ports, principal);
}
