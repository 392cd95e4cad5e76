import { AnalysisResolver } from './analyses/analysis.resolver.js';
import { CreditSampleResolver } from './analyses/credit-sample.resolver.js';
import { ComparisonResolver, DisputedTurnResolver } from './analyses/comparison.resolver.js';
import { DifferenceResolver } from './analyses/difference.resolver.js';
import { AnnotationResolver } from './annotations/annotation.resolver.js';
import { AuditResolver } from './audits/audit.resolver.js';
import { DeviceResolver } from './devices/device.resolver.js';
import {
  DiagnosticKindResolver,
  DiagnosticResolver,
  DiagnosticSettingsResolver,
  RunDiagnosticsResolver,
} from './diagnostics/diagnostic.resolver.js';
import { ErasureResolver } from './erasures/erasure.resolver.js';
import { EstimateResolver } from './estimates/estimate.resolver.js';
import { EstimatorResolver } from './estimators/estimator.resolver.js';
import { EventResolver } from './events/event.resolver.js';
import { LogResolver } from './events/log.resolver.js';
import { GroupResolver } from './groups/group.resolver.js';
import { KeyResolver } from './keys/key.resolver.js';
import { LabelResolver } from './labels/label.resolver.js';
import { NearestTurnsResolver, NearTurnResolver } from './nearest-turns/nearest-turns.resolver.js';
import { PlannedRestartResolver, PlanResolver } from './plans/plan.resolver.js';
import { ProjectResolver } from './projects/project.resolver.js';
import { RunConnectionResolver } from './runs/run-connection.resolver.js';
import { RunListsResolver } from './runs/run-lists.resolver.js';
import { RunResolver } from './runs/run.resolver.js';
import { TrajectoryResolver, TurnResolver } from './trajectories/trajectory.resolver.js';
import { WebhookResolver } from './webhooks/webhook.resolver.js';

/** All that GraphQL is made of. */
export const RESOLVERS = [
  ProjectResolver,
  RunResolver,
  RunListsResolver,
  RunConnectionResolver,
  ErasureResolver,
  GroupResolver,
  TrajectoryResolver,
  TurnResolver,
  AnalysisResolver,
  CreditSampleResolver,
  ComparisonResolver,
  DisputedTurnResolver,
  DifferenceResolver,
  EstimatorResolver,
  EstimateResolver,
  EventResolver,
  LogResolver,
  DeviceResolver,
  RunDiagnosticsResolver,
  DiagnosticResolver,
  DiagnosticSettingsResolver,
  DiagnosticKindResolver,
  PlanResolver,
  PlannedRestartResolver,
  AuditResolver,
  NearestTurnsResolver,
  NearTurnResolver,
  AnnotationResolver,
  LabelResolver,
  KeyResolver,
  WebhookResolver,
] as const;
