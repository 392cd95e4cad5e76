import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { GqlExecutionContext } from '@nestjs/graphql';
import { requireRole, type Role } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import type { GraphQLResolveInfo } from 'graphql';
import type { RequestContext } from './request-context.js';

const NEEDS = 'recredit:role';

/** The role that a root field asks for. Queries and subscriptions ask for `read` by themselves; a mutation must say. */
export const Needs = (role: Role) => SetMetadata(NEEDS, role);

/** Guards root fields: permissions belong there, since what hangs on them is confined to the caller's projects anyway. */
@Injectable()
export class RoleGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getType<string>() !== 'graphql') return true; // controllers ask by themselves
    const graphql = GqlExecutionContext.create(context);
    const said = this.reflector.get<Role | undefined>(NEEDS, context.getHandler());
    const { parentType, fieldName } = graphql.getInfo<GraphQLResolveInfo>();
    if (!said && parentType.name === 'Mutation')
      throw new RecreditError('internal.error', `${fieldName} asks for no role`);
    requireRole(graphql.getContext<RequestContext>().caller, said ?? 'read');
    return true;
  }
}
