import { Body, Controller, Delete, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { Principal } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PORTS, type ApiPorts } from '../ports.js';
import { credentialsOf, CSRF_HEADER, isOurOwn } from './credentials.js';
import { OPEN } from './open-route.js';
import { endedSessionCookie, isKeyText, sessionCookie } from './session-cookie.js';

/** Who is signed in, as the dashboard needs to know it. */
interface Session {
  readonly keyId: string;
  readonly roles: readonly string[];
  readonly allProjects: boolean;
}

/** Signs a browser in with a key and out again. */
@Controller('session')
export class SessionController {
  constructor(@Inject(PORTS) private readonly ports: ApiPorts) {}

  /** That nobody is signed in is an answer: a browser may ask before it has a key. */
  @Get()
  @RouteConfig(OPEN)
  async find(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ session: Session | null }> {
    void reply.header('cache-control', 'no-store');
    const credentials = credentialsOf(request);
    if (!credentials) return { session: null };
    try {
      return { session: sessionOf(await this.ports.authenticator.authenticate(credentials)) };
    } catch (error) {
      if (error instanceof RecreditError && error.code === 'key.invalid') return { session: null };
      throw error;
    }
  }

  @Post()
  @RouteConfig(OPEN)
  @HttpCode(200)
  async begin(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ session: Session }> {
    assertOurOwn(request);
    const key = (body as { key?: unknown } | null)?.key;
    if (!isKeyText(key)) throw new RecreditError('key.invalid', 'a key begins with rk_ and has two more parts');
    const principal = await this.ports.authenticator.authenticate(`Bearer ${key}`);
    void reply.header('set-cookie', sessionCookie(key, isSecure(request))).header('cache-control', 'no-store');
    return { session: sessionOf(principal) };
  }

  @Delete()
  @RouteConfig(OPEN)
  @HttpCode(204)
  end(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): void {
    assertOurOwn(request);
    void reply.header('set-cookie', endedSessionCookie(isSecure(request)));
  }
}

function sessionOf({ keyId, roles, projects }: Principal): Session {
  return { keyId, roles, allProjects: projects === '*' };
}

function assertOurOwn(request: FastifyRequest): void {
  if (!isOurOwn(request)) throw new RecreditError('request.invalid', `send the header ${CSRF_HEADER}: 1`);
}

/** A proxy that ends TLS says so; saying it falsely only costs the caller its own cookie. */
function isSecure({ protocol, headers }: FastifyRequest): boolean {
  return protocol === 'https' || headers['x-forwarded-proto'] === 'https';
}
