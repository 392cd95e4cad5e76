import { Module, type DynamicModule } from '@nestjs/common';
import type { Logger } from 'pino';
import { HealthController } from './health/health.controller.js';
import { IngestController } from './ingest/ingest.controller.js';
import { PORTS, type ApiPorts } from './ports.js';

@Module({})
export class ApiModule {
  static on(ports: ApiPorts, _logger: Logger): DynamicModule {
    return {
      module: ApiModule,
      providers: [{ provide: PORTS, useValue: ports }],
      controllers: [IngestController, HealthController],
    };
  }
}
