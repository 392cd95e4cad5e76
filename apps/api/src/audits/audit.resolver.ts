import { Inject } from '@nestjs/common';
import { Args, Context, ID, Mutation, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { findRun } from '#lib/access';
import { auditRunJob, startAudit } from '#lib/diagnosis';
import { PageArgs } from '../graphql/connection.js';
import type { RequestContext } from '../graphql/request-context.js';
import { Needs } from '../graphql/role.guard.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { Run } from '../runs/run.object.js';
import { Audit, AuditConnection, StartAuditInput } from './audit.object.js';
import { auditById } from './audit.reader.js';

@Resolver(() => Run)
export class AuditResolver {
  constructor(@Inject(PORTS) private readonly ports: ApiPorts) {}

  @Query(() => Audit, { nullable: true })
  audit(@Args('id', { type: () => ID }) id: string, @Context() { db }: RequestContext): Promise<Audit | null> {
    return auditById(db, id);
  }

  @ResolveField(() => AuditConnection, { description: 'Newest first.' })
  audits(@Parent() run: Run, @Args() page: PageArgs, @Context() { loaders }: RequestContext) {
    return loaders.audits.load({ parent: run.id, page, filter: null });
  }

  @Mutation(() => Audit, {
    description: "Holds the advantages that the trainer logged against an estimator's, in the background.",
  })
  @Needs('analyze')
  async startAudit(
    @Args('input', { type: () => StartAuditInput }) input: StartAuditInput,
    @Context() { db }: RequestContext,
  ): Promise<Audit | null> {
    const { platform, queue, estimators } = this.ports;
    const run = await findRun(db, input.run);
    const ports = {
      pool: platform,
      queue: async (auditId: string) => void (await queue.enqueue(auditRunJob, [{ auditId }])),
      estimators,
    };
    const { estimator, params, signal, asOf } = input;
    const request = {
      estimator,
      ...(params != null && { params }),
      ...(signal != null && { signal }),
      ...(asOf != null && { asOf }),
    };
    return auditById(db, await startAudit(ports, run.id, request));
  }
}
