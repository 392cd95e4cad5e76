import { Inject } from '@nestjs/common';
import { Args, Context, ID, Mutation, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { findRun } from '#lib/access';
import { findNearestTurnsJob, startNearest } from '#lib/diagnosis';
import type { Loaders } from '../graphql/loaders.js';
import type { RequestContext } from '../graphql/request-context.js';
import { Needs } from '../graphql/role.guard.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { Turn } from '../trajectories/trajectory.object.js';
import { FindNearestTurnsInput, NearestTurns, NearTurn } from './nearest-turns.object.js';
import { nearestTurnsById } from './nearest-turns.reader.js';

@Resolver(() => NearestTurns)
export class NearestTurnsResolver {
  constructor(@Inject(PORTS) private readonly ports: ApiPorts) {}

  @Query(() => NearestTurns, { nullable: true })
  nearestTurns(@Args('id', { type: () => ID }) id: string, @Context() { db }: RequestContext) {
    return nearestTurnsById(db, id);
  }

  @Mutation(() => NearestTurns, {
    description:
      'Seeks turns that began in a state like that of a turn, in trajectories that failed and that succeeded, in the background.',
  })
  @Needs('analyze')
  async findNearestTurns(
    @Args('input', { type: () => FindNearestTurnsInput }) input: FindNearestTurnsInput,
    @Context() { db }: RequestContext,
  ): Promise<NearestTurns | null> {
    const { platform, queue } = this.ports;
    const run = await findRun(db, input.run);
    const ports = {
      pool: platform,
      queue: async (nearestId: string) => void (await queue.enqueue(findNearestTurnsJob, [{ nearestId }])),
    };
    const { trajectory, index: turn, k, within, asOf } = input;
    const request = {
      trajectory,
      turn,
      ...(k != null && { k }),
      ...(within != null && { within }),
      ...(asOf != null && { asOf }),
    };
    return nearestTurnsById(db, await startNearest(ports, run.id, request));
  }

  @ResolveField(() => Turn, { nullable: true, description: 'Whose like was sought; null: it is no longer there.' })
  turn(@Parent() near: NearestTurns, @Context() { loaders }: RequestContext): Promise<Turn | null> {
    return turnOf(near, loaders);
  }
}

@Resolver(() => NearTurn)
export class NearTurnResolver {
  @ResolveField(() => Turn, { nullable: true, description: 'null: it is no longer there.' })
  turn(@Parent() near: NearTurn, @Context() { loaders }: RequestContext): Promise<Turn | null> {
    return turnOf(near, loaders);
  }
}

function turnOf({ run, trajectory, index }: NearestTurns | NearTurn, loaders: Loaders): Promise<Turn | null> {
  return loaders.turn.load({ run, trajectory, turn: index });
}
