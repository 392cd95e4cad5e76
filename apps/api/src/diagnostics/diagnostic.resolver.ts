import { Args, Context, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import type { RequestContext } from '../graphql/request-context.js';
import { Position } from '../graphql/scalars.js';
import { Run } from '../runs/run.object.js';
import { Diagnostic } from './learning-signal.js';

@Resolver(() => Run)
export class DiagnosticResolver {
  @ResolveField(() => [Diagnostic])
  async diagnostics(
    @Parent() run: Run,
    @Args('asOf', { type: () => Position, nullable: true }) asOf: number | null | undefined,
    @Context() { loaders }: RequestContext,
  ): Promise<Diagnostic[]> {
    return [await loaders.zeroVarianceGroups.load({ run: run.id, argument: asOf ?? null })];
  }
}
