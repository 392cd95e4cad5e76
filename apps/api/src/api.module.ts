import { Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { PROGRESS_CHANNEL } from '#lib/analysis';
import { PROJECTED_CHANNEL } from '#lib/projection';
import type { Logger } from 'pino';
import { AnalysisResolver } from './analyses/analysis.resolver.js';
import { AnnotationResolver } from './annotations/annotation.resolver.js';
import { DeviceResolver } from './devices/device.resolver.js';
import { DiagnosticResolver } from './diagnostics/diagnostic.resolver.js';
import { EstimatorResolver } from './estimators/estimator.resolver.js';
import { graphqlModule } from './graphql/graphql.module.js';
import { Notifications } from './graphql/notifications.js';
import { RoleGuard } from './graphql/role.guard.js';
import { GroupResolver } from './groups/group.resolver.js';
import { HealthController } from './health/health.controller.js';
import { IngestController } from './ingest/ingest.controller.js';
import { KeyResolver } from './keys/key.resolver.js';
import { PORTS, type ApiPorts } from './ports.js';
import { ProjectResolver } from './projects/project.resolver.js';
import { RunListsResolver } from './runs/run-lists.resolver.js';
import { RunResolver } from './runs/run.resolver.js';
import { TrajectoryResolver, TurnResolver } from './trajectories/trajectory.resolver.js';

const RESOLVERS = [
  ProjectResolver,
  RunResolver,
  RunListsResolver,
  GroupResolver,
  TrajectoryResolver,
  TurnResolver,
  AnalysisResolver,
  EstimatorResolver,
  DeviceResolver,
  DiagnosticResolver,
  AnnotationResolver,
  KeyResolver,
];

@Module({})
export class ApiModule {
  static on(ports: ApiPorts, logger: Logger): DynamicModule {
    return {
      module: ApiModule,
      imports: [graphqlModule(ports, logger)],
      providers: [
        { provide: PORTS, useValue: ports },
        {
          provide: Notifications,
          useFactory: () => new Notifications(ports.platform, [PROJECTED_CHANNEL, PROGRESS_CHANNEL]),
        },
        { provide: APP_GUARD, useClass: RoleGuard },
        ...RESOLVERS,
      ],
      controllers: [IngestController, HealthController],
    };
  }
}
