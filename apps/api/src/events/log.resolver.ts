import { Args, Context, ID, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { verifyStretch } from '#lib/event-log';
import { queryable } from '../graphql/queryable.js';
import type { RequestContext } from '../graphql/request-context.js';
import { Position } from '../graphql/scalars.js';
import { Run } from '../runs/run.object.js';
import { runByIdOrName } from '../runs/run.reader.js';
import { RunLog, VerifiedLog } from './log.object.js';

/** The chain of a run's log: where it ends, and whether it holds. */
@Resolver(() => Run)
export class LogResolver {
  @ResolveField(() => RunLog, { nullable: true, description: 'null: it has no event yet.' })
  log(@Parent() run: Run, @Context() { loaders }: RequestContext) {
    return loaders.chainHead.load(run.id);
  }

  @Query(() => VerifiedLog, {
    nullable: true,
    description:
      'Walks the log of a run from the beginning of a batch on, some 2 MiB of it. To walk all of it, ask again from where it ended until it is whole or broken.',
  })
  async verifyLog(
    @Args('run', { type: () => ID, description: 'Id, or name among the runs the caller sees.' }) idOrName: string,
    @Args('from', { type: () => Position, nullable: true, description: 'Where a batch begins; 0 if not said.' })
    from: number | null | undefined,
    @Context() { db }: RequestContext,
  ): Promise<VerifiedLog | null> {
    const run = await runByIdOrName(db, idOrName);
    return run && verifyStretch(queryable(db), run.id, from ?? 0);
  }
}
