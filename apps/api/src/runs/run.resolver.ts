import { Inject } from '@nestjs/common';
import { Args, Context, ID, Parent, Query, ResolveField, Resolver, Subscription } from '@nestjs/graphql';
import { findRun } from '#lib/access';
import { PROJECTED_CHANNEL } from '#lib/projection';
import { connect, PageArgs } from '../graphql/connection.js';
import type { RequestContext } from '../graphql/request-context.js';
import { Position } from '../graphql/scalars.js';
import { Watcher } from '../graphql/watcher.js';
import { countRuns, listRuns, runListOf } from './run-list.js';
import { Run, RunAdvanced, RunConnection, RunFilter, RunOrder, RunProgress, RunState } from './run.object.js';
import { progressOfRuns, runByIdOrName } from './run.reader.js';

@Resolver(() => Run)
export class RunResolver {
  constructor(@Inject(Watcher) private readonly watcher: Watcher) {}

  @Query(() => Run, { nullable: true, description: 'By id, or by name among those the caller sees.' })
  run(@Args('id', { type: () => ID }) id: string, @Context() { db }: RequestContext) {
    return runByIdOrName(db, id);
  }

  @Query(() => RunConnection, { description: 'Newest first, unless another order is asked for.' })
  async runs(
    @Args('project', { type: () => String, nullable: true }) project: string | null | undefined,
    @Args('filter', { type: () => RunFilter, nullable: true }) filter: RunFilter | null | undefined,
    @Args('order', { type: () => RunOrder, nullable: true }) order: RunOrder | null | undefined,
    @Args() page: PageArgs,
    @Context() { db }: RequestContext,
  ) {
    const list = runListOf(project, filter, order);
    const found = await connect(page, list.order, (limit, after) => listRuns(db, list, limit, after));
    return { ...found, countAll: () => countRuns(db, list) };
  }

  @ResolveField(() => RunProgress)
  progress(@Parent() run: Run, @Context() { loaders }: RequestContext) {
    return loaders.runProgress.load(run.id);
  }

  @ResolveField(() => RunState)
  async state(@Parent() run: Run, @Context() { loaders }: RequestContext) {
    return (await loaders.runProgress.load(run.id)).state;
  }

  @ResolveField(() => Position, { description: 'Events projected.' })
  async position(@Parent() run: Run, @Context() { loaders }: RequestContext) {
    return (await loaders.runProgress.load(run.id)).position;
  }

  @Subscription(() => RunAdvanced, { description: 'Where the run is now, and again whenever it got further.' })
  async runAdvanced(@Args('run', { type: () => ID }) idOrName: string, @Context() context: RequestContext) {
    const { db } = context;
    const { id: run } = await findRun(db, idOrName);
    let last = -1;
    const look = async () => {
      const [progress] = await progressOfRuns(db, [run]);
      if (progress.position === last) return null;
      last = progress.position;
      return { runAdvanced: { run, position: progress.position, progress } };
    };
    return this.watcher.watch({ channel: PROJECTED_CHANNEL, id: run, look }, context);
  }
}
