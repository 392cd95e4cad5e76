import { Args, Context, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import type { RequestContext } from '../graphql/request-context.js';
import { Position } from '../graphql/scalars.js';
import { Run } from '../runs/run.object.js';
import { Turn } from '../trajectories/trajectory.object.js';
import { Plan, PlannedRestart } from './plan.object.js';
import { planAsOf } from './plan.reader.js';

@Resolver(() => Run)
export class PlanResolver {
  @ResolveField(() => Plan, {
    description:
      'Where the next rollouts would best be spent, by what the diagnostics say. As of an earlier position it rests on what is measured, see the mutation measureDiagnostics.',
  })
  plan(
    @Parent() run: Run,
    @Args('asOf', { type: () => Position, nullable: true }) asOf: number | null | undefined,
    @Context() { db, loaders }: RequestContext,
  ) {
    if (asOf === null || asOf === undefined) return loaders.plan.load(run.id);
    return planAsOf(db, run.id, asOf);
  }
}

@Resolver(() => PlannedRestart)
export class PlannedRestartResolver {
  @ResolveField(() => [Turn], { description: 'The turns to replay, from the first: what the agent saw and did.' })
  async prefix(
    @Parent() { run, trajectory, prefixTurns }: PlannedRestart,
    @Context() { loaders }: RequestContext,
  ): Promise<Turn[]> {
    const turns = Array.from({ length: prefixTurns }, (_, turn) => loaders.turn.load({ run, trajectory, turn }));
    return (await Promise.all(turns)).filter((turn) => turn !== null);
  }
}
