import { Args, Context, Int, Mutation, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { setRetention } from '#lib/access';
import { connect, PageArgs } from '../graphql/connection.js';
import type { RequestContext } from '../graphql/request-context.js';
import { Needs } from '../graphql/role.guard.js';
import { RunConnection } from '../runs/run.object.js';
import { Project, ProjectConnection } from './project.object.js';
import { BY_NAME, projectNamed, projectsByName } from './project.reader.js';

@Resolver(() => Project)
export class ProjectResolver {
  @Query(() => Project, { nullable: true })
  project(@Args('name', { type: () => String }) name: string, @Context() { db }: RequestContext) {
    return projectNamed(db, name);
  }

  @Query(() => ProjectConnection, { description: 'By name.' })
  projects(@Args() page: PageArgs, @Context() { db }: RequestContext) {
    return connect(page, BY_NAME, (limit, after) => projectsByName(db, limit, after));
  }

  @Mutation(() => Project, {
    description:
      'Sets for how many days runs are kept after they ended and nothing came any more; null: for ever. Then they are erased.',
  })
  @Needs('admin')
  setRetention(
    @Args('project', { type: () => String, description: 'Name or id.' }) project: string,
    @Args('days', { type: () => Int, nullable: true }) days: number | null | undefined,
    @Context() { db }: RequestContext,
  ) {
    return setRetention(db, project, days ?? null);
  }

  @ResolveField(() => RunConnection, { description: 'Newest first.' })
  async runs(@Parent() { id }: Project, @Args() page: PageArgs, @Context() { loaders }: RequestContext) {
    const found = await loaders.runsOfProject.load({ parent: id, page, filter: null });
    return { ...found, countAll: () => loaders.runCountOfProject.load(id) };
  }
}
