import { Args, Context, ID, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { PageArgs } from '../graphql/connection.js';
import type { RequestContext } from '../graphql/request-context.js';
import { runByIdOrName } from '../runs/run.reader.js';
import { Trajectory, Turn, TurnConnection, TurnCredit } from './trajectory.object.js';
import { trajectoryById } from './trajectory.reader.js';

@Resolver(() => Trajectory)
export class TrajectoryResolver {
  @Query(() => Trajectory, { nullable: true })
  async trajectory(
    @Args('run', { type: () => ID }) runId: string,
    @Args('id', { type: () => ID }) id: string,
    @Context() { db }: RequestContext,
  ) {
    const run = await runByIdOrName(db, runId);
    return run && trajectoryById(db, run.id, id);
  }

  @ResolveField(() => TurnConnection)
  turns(@Parent() trajectory: Trajectory, @Args() page: PageArgs, @Context() { loaders }: RequestContext) {
    return loaders.turns.load({ trajectory, page });
  }
}

@Resolver(() => Turn)
export class TurnResolver {
  @ResolveField(() => [TurnCredit], { description: 'One entry per estimator of the analysis, in its order.' })
  credit(
    @Parent() { run: runId, trajectory, trainingStep, index }: Turn,
    @Args('analysis', { type: () => ID }) analysisId: string,
    @Context() { loaders }: RequestContext,
  ) {
    return loaders.credit.load({ analysisId, runId, trainingStep, trajectory, index });
  }
}
