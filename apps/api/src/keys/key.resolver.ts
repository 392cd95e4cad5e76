import { Inject } from '@nestjs/common';
import { Args, Context, ID, Mutation, ObjectType, Query, Resolver } from '@nestjs/graphql';
import { createKey, findProject, listKeys } from '#lib/access';
import { connect, connectionOf, PageArgs } from '../graphql/connection.js';
import type { Order } from '../graphql/cursor.js';
import type { RequestContext } from '../graphql/request-context.js';
import { Needs } from '../graphql/role.guard.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { ApiKey, CreateApiKeyInput, CreatedApiKey } from './key.object.js';

const NEWEST_KEY: Order<ApiKey> = {
  parts: ['instant', 'text'],
  keyOf: ({ createdAt, id }) => [createdAt.toISOString(), id],
};

@ObjectType()
class ApiKeyConnection extends connectionOf(ApiKey) {}

@Resolver(() => ApiKey)
export class KeyResolver {
  constructor(@Inject(PORTS) private readonly ports: ApiPorts) {}

  @Query(() => ApiKeyConnection, { description: 'Newest first, revoked ones too.' })
  @Needs('admin')
  apiKeys(@Args() page: PageArgs, @Context() { db }: RequestContext) {
    return connect(page, NEWEST_KEY, (limit, after) =>
      listKeys(db, limit, after && { createdAt: new Date(after[0]), id: String(after[1]) }),
    );
  }

  @Mutation(() => CreatedApiKey)
  @Needs('admin')
  async createApiKey(
    @Args('input', { type: () => CreateApiKeyInput }) { name, project, roles }: CreateApiKeyInput,
    @Context() { db }: RequestContext,
  ) {
    const projectId = project == null ? null : (await findProject(db, project)).id;
    return createKey(db, { name, projectId, roles });
  }

  @Mutation(() => ApiKey)
  @Needs('admin')
  revokeApiKey(@Args('id', { type: () => ID }) id: string, @Context() { db }: RequestContext) {
    return this.ports.authenticator.revoke(db, id);
  }
}
