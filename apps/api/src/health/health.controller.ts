import { Controller, Get, Inject, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { RecreditError } from '#lib/kernel';
import { schemaDocument } from '#lib/protocol';
import type { FastifyRequest } from 'fastify';
import { OPEN } from '../dashboard/open-route.js';
import { principalOf } from '../http/caller.js';
import { Drain } from '../http/drain.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { failing, readiness } from './readiness.js';

/** Whether the process lives, whether it can serve, and what it understands. */
@Controller()
export class HealthController {
  constructor(
    @Inject(PORTS) private readonly ports: ApiPorts,
    @Inject(Drain) private readonly drain: Drain,
  ) {}

  @Get('healthz')
  alive() {
    return { status: 'ok' };
  }

  /**
   * For any key. Whose it is cannot be looked up without the database: then the answer says that, and which other parts
   * fail, to whoever asks.
   */
  @Get('readyz')
  @RouteConfig(OPEN)
  async ready(@Req() request: FastifyRequest) {
    let known = true;
    request.principal = await principalOf(this.ports, request).catch((error: unknown) => {
      if (!(error instanceof RecreditError && error.code === 'database.unavailable')) throw error;
      known = false;
      return null;
    });
    const checks = await readiness(this.ports, this.drain.stopping);
    const failed = failing(checks);
    if (failed.length === 0 && known) return { status: 'ready', checks };
    const parts = failed.length > 0 ? failed : ['database'];
    throw new RecreditError('platform.unready', `not ready: ${parts.join(', ')}`, { failing: parts, checks });
  }

  @Get('v1/schema')
  schema() {
    return schemaDocument();
  }
}
