import { Int, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { RunConnection } from './run.object.js';

@Resolver(() => RunConnection)
export class RunConnectionResolver {
  @ResolveField(() => Int, { description: 'Runs on all pages of the list.' })
  count(@Parent() { countAll }: RunConnection): Promise<number> {
    return countAll();
  }
}
