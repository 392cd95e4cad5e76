import { Args, Context, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import type { RequestContext } from '../graphql/request-context.js';
import { Position } from '../graphql/scalars.js';
import { Run } from '../runs/run.object.js';
import { Plan } from './plan.object.js';
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
