import { Inject } from '@nestjs/common';
import { Args, Context, Int, Mutation, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { assertNotErased, findRun } from '#lib/access';
import { changeSettings, measureAsOfJob, positionToLookAt, stepRevisions, type RunSettings } from '#lib/diagnosis';
import { DIAGNOSTICS, settingsSchema, type Values } from '#lib/diagnostics';
import { RecreditError } from '#lib/kernel';
import { PageArgs } from '../graphql/connection.js';
import { queryable } from '../graphql/queryable.js';
import type { RequestContext } from '../graphql/request-context.js';
import { Needs } from '../graphql/role.guard.js';
import { Json, Position } from '../graphql/scalars.js';
import { decimate } from '../metrics/decimate.js';
import { MetricSeries } from '../metrics/metric-series.object.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { Run } from '../runs/run.object.js';
import {
  AlertConnection,
  Diagnostic,
  DiagnosticKind,
  DiagnosticSettings,
  DiagnosticStep,
  SettingOrigin,
} from './diagnostic.object.js';
import { diagnosticsAsOf, type RunDiagnostic } from './diagnostic.reader.js';
import { settingChanges } from './setting-changes.js';

const CURVE_POINTS = 100;
const MAX_POINTS = 10_000;

@Resolver(() => Run)
export class RunDiagnosticsResolver {
  constructor(@Inject(PORTS) private readonly ports: ApiPorts) {}

  @ResolveField(() => [Diagnostic], {
    description:
      'In the order of the catalogue. They follow the run by some seconds; none: nothing is measured yet. As of an earlier position they speak of what is measured, see `pendingSteps` and the mutation measureDiagnostics.',
  })
  diagnostics(
    @Parent() run: Run,
    @Args('asOf', { type: () => Position, nullable: true }) asOf: number | null | undefined,
    @Context() { db, loaders }: RequestContext,
  ): Promise<RunDiagnostic[]> {
    if (asOf === null || asOf === undefined) return loaders.diagnostics.load(run.id);
    return diagnosticsAsOf(db, run.id, asOf);
  }

  @ResolveField(() => AlertConnection, { description: 'Newest first.' })
  alerts(
    @Parent() run: Run,
    @Args('isOpen', { type: () => Boolean, nullable: true, description: 'All if not said.' })
    isOpen: boolean | null | undefined,
    @Args() page: PageArgs,
    @Context() { loaders }: RequestContext,
  ) {
    return loaders.alerts.load({ parent: run.id, page, filter: { isOpen: isOpen ?? null } });
  }

  @ResolveField(() => DiagnosticSettings, { description: 'In force.' })
  diagnosticSettings(@Parent() run: Run, @Context() { loaders }: RequestContext): Promise<DiagnosticSettings> {
    return loaders.diagnosticSettings.load(run.id);
  }

  @Mutation(() => DiagnosticSettings, {
    description:
      'Changes what the diagnostics of a run are asked with, all of it or nothing. The run is diagnosed again, and its alerts follow.',
  })
  @Needs('analyze')
  async setDiagnostics(
    @Args('run', { type: () => String, description: 'Id, or name among the runs the caller sees.' }) idOrName: string,
    @Args('settings', {
      type: () => Json,
      description:
        'By diagnostic, by name: a value, or null for the default; null instead of its settings: all its defaults. `hold` of any diagnostic: for how many training steps running, or {of, within, clear}.',
    })
    settings: unknown,
    @Context() { caller, db }: RequestContext,
  ): Promise<DiagnosticSettings> {
    const run = await findRun(db, idOrName);
    assertNotErased(run);
    const changed = await changeSettings(this.ports.platform, run.id, settingChanges(settings), caller.keyId);
    return { run: run.id, ...changed };
  }

  @Mutation(() => Int, {
    description: 'Measures what a run was as of an earlier position. Answers how many training steps it had then.',
  })
  @Needs('analyze')
  async measureDiagnostics(
    @Args('run', { type: () => String, description: 'Id, or name among the runs the caller sees.' }) idOrName: string,
    @Args('asOf', { type: () => Position }) asOf: number,
    @Context() { db }: RequestContext,
  ): Promise<number> {
    const { id: runId } = await findRun(db, idOrName);
    await positionToLookAt(this.ports.platform, runId, asOf);
    await this.ports.queue.enqueue(measureAsOfJob, [{ runId, asOf }]);
    return (await stepRevisions(queryable(db), runId, asOf)).length;
  }
}

@Resolver(() => DiagnosticSettings)
export class DiagnosticSettingsResolver {
  @ResolveField(() => [SettingOrigin], { description: 'Who set each of them, and when.' })
  async origins(
    @Parent() { run, settings }: DiagnosticSettings,
    @Context() { loaders }: RequestContext,
  ): Promise<SettingOrigin[]> {
    const origins = await loaders.settingOrigins.load(run);
    const inForce = settings as RunSettings['settings'];
    return origins.filter(({ diagnostic, name }) => Object.hasOwn(inForce[diagnostic] ?? {}, name));
  }
}

@Resolver(() => DiagnosticKind)
export class DiagnosticKindResolver {
  @Query(() => [DiagnosticKind], { description: 'All that a run is asked, and what of it can be set.' })
  diagnosticCatalogue(): DiagnosticKind[] {
    return DIAGNOSTICS.map((diagnostic) => {
      const { id, title, question, source, requires, accepts } = diagnostic;
      return { id, title, question, source, requires, accepts, settings: settingsSchema(diagnostic) };
    });
  }
}

@Resolver(() => Diagnostic)
export class DiagnosticResolver {
  @ResolveField(() => [DiagnosticStep], { description: 'Ascending.' })
  steps(@Parent() { run, id, steps }: RunDiagnostic, @Context() { loaders }: RequestContext) {
    return steps ?? loaders.diagnosticSteps.load({ run, argument: id });
  }

  @ResolveField(() => MetricSeries, { description: 'The headline value over the training steps.' })
  async curve(
    @Parent() { run, id, headline, steps }: RunDiagnostic,
    @Args('points', { type: () => Int, nullable: true, defaultValue: CURVE_POINTS, description: 'At most so many.' })
    asked: number | null,
    @Context() { loaders }: RequestContext,
  ): Promise<MetricSeries> {
    const limit = asked ?? CURVE_POINTS;
    if (limit < 1 || limit > MAX_POINTS) {
      throw new RecreditError('query.invalid', `points: a number from 1 to ${MAX_POINTS} was wanted, found ${limit}`);
    }
    const all = steps
      ? steps.map(({ trainingStep, values }) => ({ trainingStep, value: (values as Values)[headline] ?? null }))
      : await loaders.diagnosticCurve.load({ run, diagnostic: id, value: headline });
    const kept = decimate(all, limit);
    return { name: headline, points: [...kept], sampled: kept.length < all.length, count: all.length };
  }
}
