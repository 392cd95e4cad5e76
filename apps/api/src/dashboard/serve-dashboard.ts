import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { RecreditError } from '#lib/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from '../http/problem.js';
import { OPEN } from './open-route.js';

/** Where the build puts the dashboard, seen from the build of this file. */
export const BUILT_DASHBOARD = fileURLToPath(new URL('../../../../dashboard', import.meta.url));

/** All of it comes from us, nothing is inline, nobody frames it. ECharts draws images of its own: data:. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const SHELL_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache', // asked again each time; what it names is kept for ever
  vary: 'accept',
};

/**
 * Serves the built dashboard: its hashed files under /assets, and one page for every path that a browser opens and
 * nothing else answers. They hold no data, so they need no key. Without a build there is no dashboard.
 */
export async function serveDashboard(fastify: FastifyInstance, { root }: { root: string }): Promise<void> {
  if (!existsSync(join(root, 'index.html'))) return;
  await fastify.register(fastifyStatic, { root, serve: false, cacheControl: false, preCompressed: true });
  fastify.get<{ Params: { '*': string } }>('/assets/*', { config: OPEN }, (request, reply) =>
    reply
      .header('x-content-type-options', 'nosniff')
      .sendFile(`assets/${request.params['*']}`, { cacheControl: true, maxAge: '365d', immutable: true }),
  );
  fastify.get('/*', { config: { open: wantsPage } }, (request, reply) =>
    wantsPage(request) ? reply.headers(SHELL_HEADERS).sendFile('index.html') : notFound(request, reply),
  );
}

/** A browser that opens an address of the dashboard. What lies under /v1 is for programs. */
function wantsPage({ headers, url }: FastifyRequest): boolean {
  return (headers.accept ?? '').includes('text/html') && !url.startsWith('/v1/');
}

async function notFound({ method, url }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  await sendProblem(reply, new RecreditError('request.invalid', `Cannot ${method} ${url}`, { status: 404 }));
  return reply;
}
