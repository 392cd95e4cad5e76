import { Args, Context, ID, Query, Resolver } from '@nestjs/graphql';
import { connect, PageArgs } from '../graphql/connection.js';
import type { RequestContext } from '../graphql/request-context.js';
import { Position } from '../graphql/scalars.js';
import { runByIdOrName } from '../runs/run.reader.js';
import { LoggedEventConnection } from './event.object.js';
import { BY_POSITION, eventsFrom } from './event.reader.js';

@Resolver()
export class EventResolver {
  @Query(() => LoggedEventConnection, {
    nullable: true,
    description: 'The event log of a run, in the order of its positions. Of an erased run run.erased is left.',
  })
  async events(
    @Args('run', { type: () => ID, description: 'Id, or name among the runs the caller sees.' }) idOrName: string,
    @Args('from', { type: () => Position, nullable: true, description: 'The first position; 0 if not said.' })
    from: number | null | undefined,
    @Args() page: PageArgs,
    @Context() { db }: RequestContext,
  ) {
    const run = await runByIdOrName(db, idOrName);
    if (!run) return null;
    return connect(page, BY_POSITION, (limit, after) =>
      eventsFrom(db, run.id, after ? Number(after[0]) + 1 : (from ?? 0), limit),
    );
  }
}
