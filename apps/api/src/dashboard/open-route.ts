import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** whether such a request is answered without a key; not said: none is */
    open?: (request: FastifyRequest) => boolean;
  }
}

/** Route configuration: answers without a key. */
export const OPEN = { open: () => true };

export function isOpen(request: FastifyRequest): boolean {
  return request.routeOptions.config.open?.(request) ?? false;
}
