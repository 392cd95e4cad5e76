import { Args, Context, Int, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import type { RequestContext } from '../graphql/request-context.js';
import { Turn } from '../trajectories/trajectory.object.js';
import { Comparison, DisputedTurn, TagAgreement } from './comparison.object.js';

@Resolver(() => Comparison)
export class ComparisonResolver {
  @ResolveField(() => [DisputedTurn], { description: 'The most disputed first.' })
  disputed(
    @Parent() { disputed }: Comparison,
    @Args('first', { type: () => Int, nullable: true, description: 'All that are kept, if not said: at most 64.' })
    first: number | null | undefined,
  ) {
    return disputed.slice(0, Math.max(0, first ?? disputed.length));
  }

  @ResolveField(() => [TagAgreement], { description: 'By text signal of trajectories, the first sixteen by name.' })
  tags(
    @Parent() { tags }: Comparison,
    @Args('tag', { type: () => String, nullable: true, description: 'This one alone.' })
    wanted: string | null | undefined,
  ) {
    return wanted === null || wanted === undefined ? tags : tags.filter(({ tag }) => tag === wanted);
  }
}

@Resolver(() => DisputedTurn)
export class DisputedTurnResolver {
  @ResolveField(() => Turn, {
    nullable: true,
    description: 'What the agent saw and did; null: it is not there any more.',
  })
  recorded(@Parent() { run, trajectory, turn }: DisputedTurn, @Context() { loaders }: RequestContext) {
    return loaders.turn.load({ run, trajectory, turn });
  }
}
