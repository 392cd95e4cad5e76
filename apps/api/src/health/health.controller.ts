import { Controller, Get, Inject } from '@nestjs/common';
import { RecreditError } from '#lib/kernel';
import { schemaDocument } from '#lib/protocol';
import { PORTS, type ApiPorts } from '../ports.js';

/** Whether the process lives, whether it can serve, and what it understands. */
@Controller()
export class HealthController {
  constructor(@Inject(PORTS) private readonly ports: ApiPorts) {}

  @Get('healthz')
  alive() {
    return { status: 'ok' };
  }

  @Get('readyz')
  async ready() {
    try {
      await this.ports.platform.query('select 1');
      return { status: 'ready' };
    } catch (error) {
      throw new RecreditError('database.unavailable', 'the database does not answer', {}, { cause: error });
    }
  }

  @Get('v1/schema')
  schema() {
    return schemaDocument();
  }
}
