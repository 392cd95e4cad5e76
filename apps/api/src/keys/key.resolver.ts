import { Inject } from '@nestjs/common';
import { Args, Context, ID, Mutation, ObjectType, Query, Resolver } from '@nestjs/graphql';
import { createKey, findProject, listKeys, type Confined, type KeyLimits } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import { connect, connectionOf, PageArgs } from '../graphql/connection.js';
import type { Order } from '../graphql/cursor.js';
import type { RequestContext } from '../graphql/request-context.js';
import { Needs } from '../graphql/role.guard.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { ApiKey, CreateApiKeyInput, CreatedApiKey, KeyLimitsInput } from './key.object.js';

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
    @Args('input', { type: () => CreateApiKeyInput }) { name, project, roles, ...limits }: CreateApiKeyInput,
    @Context() { db }: RequestContext,
  ) {
    const projectId = project == null ? null : (await findProject(db, project)).id;
    if (limits.requestsPerSecond != null || limits.eventsPerSecond != null) assertMayLimit(db);
    return createKey(db, { name, projectId, roles, ...wholeLimits(limits) });
  }

  @Mutation(() => ApiKey, { description: 'Sets both limits of a key. Takes a key of all projects.' })
  @Needs('admin')
  limitApiKey(
    @Args('id', { type: () => ID }) id: string,
    @Args('limits', { type: () => KeyLimitsInput }) limits: KeyLimitsInput,
    @Context() { db }: RequestContext,
  ) {
    assertMayLimit(db);
    return this.ports.authenticator.limit(db, id, wholeLimits(limits));
  }

  @Mutation(() => ApiKey)
  @Needs('admin')
  revokeApiKey(@Args('id', { type: () => ID }) id: string, @Context() { db }: RequestContext) {
    return this.ports.authenticator.revoke(db, id);
  }
}

/** Limits are the platform's word to a project, so a project's own admin does not lift them. */
function assertMayLimit({ projects }: Confined): void {
  if (projects !== '*') throw new RecreditError('role.missing', 'only an admin of all projects sets limits');
}

const wholeLimits = ({ requestsPerSecond = null, eventsPerSecond = null }: KeyLimitsInput): KeyLimits => ({
  requestsPerSecond,
  eventsPerSecond,
});
