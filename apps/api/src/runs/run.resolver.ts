import { Inject } from '@nestjs/common';
import { Args, Context, ID, Parent, Query, ResolveField, Resolver, Subscription } from '@nestjs/graphql';
import { RecreditError } from '#lib/kernel';
import { PROJECTED_CHANNEL } from '#lib/projection';
import { connect, PageArgs } from '../graphql/connection.js';
import { Notifications } from '../graphql/notifications.js';
import type { RequestContext } from '../graphql/request-context.js';
import { Position } from '../graphql/scalars.js';
import { Run, RunAdvanced, RunConnection, RunProgress, RunState } from './run.object.js';
import { keyOfRun, progressOfRuns, runByIdOrName, runsNewestFirst } from './run.reader.js';

@Resolver(() => Run)
export class RunResolver {
  constructor(@Inject(Notifications) private readonly notifications: Notifications) {}

  @Query(() => Run, { nullable: true, description: 'By id, or by name among those the caller sees.' })
  run(@Args('id', { type: () => ID }) id: string, @Context() { db }: RequestContext) {
    return runByIdOrName(db, id);
  }

  @Query(() => RunConnection, { name: 'runs', description: 'Newest first.' })
  listRuns(
    @Args('project', { type: () => String, nullable: true }) project: string | undefined,
    @Args() page: PageArgs,
    @Context() { db }: RequestContext,
  ) {
    return connect(page, (limit, after) => runsNewestFirst(db, project ?? null, limit, after), keyOfRun);
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
  async runAdvanced(@Args('run', { type: () => ID }) id: string, @Context() { db }: RequestContext) {
    const run = await runByIdOrName(db, id);
    if (!run) throw new RecreditError('run.unknown', `no run ${id} among those you see`);
    return this.#advances(run.id, db);
  }

  async *#advances(run: string, db: RequestContext['db']) {
    let last = -1;
    for await (const _ of this.notifications.about(PROJECTED_CHANNEL, run)) {
      const [progress] = await progressOfRuns(db, [run]);
      if (progress.position === last) continue;
      last = progress.position;
      yield { runAdvanced: { run, position: progress.position, progress } };
    }
  }
}
