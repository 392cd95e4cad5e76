import { Inject } from '@nestjs/common';
import { Args, Context, Int, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { ESTIMATORS, readersOfSignals } from '#lib/credit';
import { RecreditError } from '#lib/kernel';
import { signalAt, suggestSignal } from '#lib/protocol';
import { AnalysisConnection } from '../analyses/analysis.object.js';
import { PageArgs } from '../graphql/connection.js';
import type { RequestContext } from '../graphql/request-context.js';
import { GroupConnection } from '../groups/group.object.js';
import { decimate } from '../metrics/decimate.js';
import { MetricSeries } from '../metrics/metric-series.object.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { TrainingStepConnection } from '../training-steps/training-step.object.js';
import { TrajectoryConnection, TrajectoryFilter } from '../trajectories/trajectory.object.js';
import { Run, SignalSummary } from './run.object.js';

const DEFAULT_POINTS = 1_000;

/** The lists that hang on a run. */
@Resolver(() => Run)
export class RunListsResolver {
  constructor(@Inject(PORTS) private readonly ports: Pick<ApiPorts, 'estimators'>) {}

  @ResolveField(() => TrainingStepConnection, { description: 'Ascending.' })
  trainingSteps(@Parent() run: Run, @Args() page: PageArgs, @Context() { loaders }: RequestContext) {
    return loaders.trainingSteps.load({ parent: run.id, page, filter: null });
  }

  @ResolveField(() => MetricSeries)
  async metric(
    @Parent() run: Run,
    @Args('name', { type: () => String }) name: string,
    @Args('points', { type: () => Int, nullable: true, defaultValue: DEFAULT_POINTS, description: 'At most so many.' })
    asked: number | null,
    @Args('firstStep', { type: () => Int, nullable: true }) firstStep: number | null | undefined,
    @Args('lastStep', { type: () => Int, nullable: true }) lastStep: number | null | undefined,
    @Context() { loaders }: RequestContext,
  ): Promise<MetricSeries> {
    const limit = asked ?? DEFAULT_POINTS;
    if (limit < 1 || limit > 100_000) {
      throw new RecreditError('query.invalid', `points: a number from 1 to 100000 was wanted, found ${limit}`);
    }
    const [from, to] = [firstStep ?? 0, lastStep ?? Infinity];
    const all = (await loaders.metric.load({ run: run.id, argument: name })).filter(
      ({ trainingStep }) => trainingStep >= from && trainingStep <= to,
    );
    const points = decimate(all, limit);
    return { name, points: [...points], sampled: points.length < all.length, count: all.length };
  }

  @ResolveField(() => GroupConnection, { description: 'By training step, in the order in which they began.' })
  groups(
    @Parent() run: Run,
    @Args('trainingStep', { type: () => Int, nullable: true }) trainingStep: number | null | undefined,
    @Args() page: PageArgs,
    @Context() { loaders }: RequestContext,
  ) {
    return loaders.groups.load({ parent: run.id, page, filter: { trainingStep: trainingStep ?? null } });
  }

  @ResolveField(() => TrajectoryConnection, { description: 'By training step, in the order in which they began.' })
  trajectories(
    @Parent() run: Run,
    @Args('filter', { type: () => TrajectoryFilter, nullable: true }) filter: TrajectoryFilter | null | undefined,
    @Args() page: PageArgs,
    @Context() { loaders }: RequestContext,
  ) {
    return loaders.trajectories.load({ parent: run.id, page, filter: filter ?? {} });
  }

  @ResolveField(() => AnalysisConnection, { description: 'Newest first.' })
  analyses(@Parent() run: Run, @Args() page: PageArgs, @Context() { loaders }: RequestContext) {
    return loaders.analysesOfRun.load({ parent: run.id, page, filter: null });
  }

  @ResolveField(() => [SignalSummary], { description: 'Which signals the run carries, and on how many rows.' })
  async signals(@Parent() run: Run, @Context() { loaders }: RequestContext): Promise<SignalSummary[]> {
    const readers = readersOfSignals(this.ports.estimators ?? ESTIMATORS);
    return (await loaders.signals.load(run.id)).map((signal) => known(signal, readers));
  }
}

/** With what is known of it. A signal that only a user's own estimator reads is known by that. */
function known(signal: SignalSummary, readers: ReadonlyMap<string, readonly string[]>): SignalSummary {
  const path = `${signal.level}.${signal.name}`;
  const readBy = readers.get(path) ?? [];
  const meaning = signalAt(path)?.meaning ?? (readBy.length > 0 ? `read by ${readBy.join(', ')}` : null);
  return { ...signal, meaning, suggestion: suggestSignal(path, readers.keys()), readBy };
}
