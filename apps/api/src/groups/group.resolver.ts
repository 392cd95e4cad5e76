import { Args, Context, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { PageArgs } from '../graphql/connection.js';
import type { RequestContext } from '../graphql/request-context.js';
import { TrajectoryConnection } from '../trajectories/trajectory.object.js';
import { groupAddress } from '../trajectories/trajectory.reader.js';
import { Group } from './group.object.js';

@Resolver(() => Group)
export class GroupResolver {
  @ResolveField(() => TrajectoryConnection, { description: 'In the order in which they began.' })
  trajectories(@Parent() group: Group, @Args() page: PageArgs, @Context() { loaders }: RequestContext) {
    return loaders.trajectoriesOfGroup.load({ parent: groupAddress(group), page, filter: null });
  }
}
