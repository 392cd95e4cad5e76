import { createHash } from 'node:crypto';
import { Args, Context, ID, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { AnnotationConnection } from '../annotations/annotation.object.js';
import { trajectoryAddress } from '../annotations/annotation.reader.js';
import { PageArgs } from '../graphql/connection.js';
import type { RequestContext } from '../graphql/request-context.js';
import { runByIdOrName } from '../runs/run.reader.js';
import { excerptOf } from './excerpt.js';
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

  @ResolveField(() => AnnotationConnection, { description: 'In the order in which they were said.' })
  annotations(@Parent() trajectory: Trajectory, @Args() page: PageArgs, @Context() { loaders }: RequestContext) {
    return loaders.annotations.load({ parent: trajectoryAddress(trajectory), page, filter: null });
  }
}

@Resolver(() => Turn)
export class TurnResolver {
  @ResolveField(() => ID, { description: 'The same for states that were recorded equal.' })
  stateKey(@Parent() { state }: Turn): string {
    return createHash('sha256').update(state).digest('hex').slice(0, 24);
  }

  @ResolveField(() => String, { description: 'How the state begins; of chat messages, how the last one does.' })
  stateExcerpt(@Parent() { state }: Turn): string {
    return excerptOf(state);
  }

  @ResolveField(() => String, { description: 'How the action begins; of chat messages, how the last one does.' })
  actionExcerpt(@Parent() { action }: Turn): string {
    return excerptOf(action);
  }

  @ResolveField(() => [TurnCredit], { description: 'One entry per estimator of the analysis, in its order.' })
  credit(
    @Parent() { run: runId, trajectory, trainingStep, index }: Turn,
    @Args('analysis', { type: () => ID }) analysisId: string,
    @Context() { loaders }: RequestContext,
  ) {
    return loaders.credit.load({ analysisId, runId, trainingStep, trajectory, index });
  }
}
