import { Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD, HttpAdapterHost } from '@nestjs/core';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import { PROGRESS_CHANNEL } from '#lib/analysis';
import { PROJECTED_CHANNEL } from '#lib/projection';
import type { Logger } from 'pino';
import { SessionController } from './dashboard/session.controller.js';
import { DownloadController } from './downloads/download.controller.js';
import { Figures } from './figures/figures.js';
import { FiguresController } from './figures/figures.controller.js';
import { graphqlModule } from './graphql/graphql.module.js';
import { Notifications } from './graphql/notifications.js';
import { RoleGuard } from './graphql/role.guard.js';
import { SubscriptionServer } from './graphql/subscription-server.js';
import { Watcher } from './graphql/watcher.js';
import { HealthController } from './health/health.controller.js';
import { Drain } from './http/drain.js';
import { IngestController } from './ingest/ingest.controller.js';
import { LOGGER } from './logger.js';
import { PORTS, type ApiPorts } from './ports.js';
import { RESOLVERS } from './resolvers.js';

@Module({})
export class ApiModule {
  static on(ports: ApiPorts, logger: Logger, drain: Drain, figures: Figures): DynamicModule {
    return {
      module: ApiModule,
      imports: [graphqlModule(ports, logger)],
      providers: [
        { provide: PORTS, useValue: ports },
        { provide: LOGGER, useValue: logger },
        { provide: Drain, useValue: drain },
        { provide: Figures, useValue: figures },
        {
          provide: Notifications,
          useFactory: () => new Notifications(ports.platform, [PROJECTED_CHANNEL, PROGRESS_CHANNEL]),
        },
        {
          provide: Watcher,
          useFactory: (notifications: Notifications) => new Watcher(notifications, logger),
          inject: [Notifications],
        },
        {
          provide: SubscriptionServer,
          useFactory: (schema: GraphQLSchemaHost, adapter: HttpAdapterHost) =>
            new SubscriptionServer(ports, logger, schema, adapter, drain),
          inject: [GraphQLSchemaHost, HttpAdapterHost],
        },
        { provide: APP_GUARD, useClass: RoleGuard },
        ...RESOLVERS,
      ],
      controllers: [IngestController, DownloadController, HealthController, FiguresController, SessionController],
    };
  }
}
