import { Inject } from '@nestjs/common';
import { Args, Context, Mutation, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { findRun } from '#lib/access';
import { eraseRunJob, requestErasure } from '#lib/erasure';
import { RecreditError } from '#lib/kernel';
import type { RequestContext } from '../graphql/request-context.js';
import { Needs } from '../graphql/role.guard.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { Run } from '../runs/run.object.js';
import { EraseRunInput, Erasure } from './erasure.object.js';

const MAX_REASON = 1_000;

@Resolver(() => Run)
export class ErasureResolver {
  constructor(@Inject(PORTS) private readonly ports: ApiPorts) {}

  @Mutation(() => Erasure, {
    description:
      'Purges the payloads of a run and all that was made of them. At once nothing of it can be read or appended; the bytes follow: see `finishedAt`.',
  })
  @Needs('admin')
  async eraseRun(
    @Args('input', { type: () => EraseRunInput }) { run: idOrName, reason }: EraseRunInput,
    @Context() { db, caller }: RequestContext,
  ): Promise<Erasure | null> {
    const run = await findRun(db, idOrName);
    const { platform, queue } = this.ports;
    const finish = async (runId: string) => void (await queue.enqueue(eraseRunJob, [{ runId }]));
    return requestErasure({ pool: platform, finish }, run.id, {
      reason: reasonOf(reason),
      requestedBy: caller.keyId,
    });
  }

  @ResolveField(() => Erasure, { nullable: true, description: 'null: not erased.' })
  erasure(@Parent() { id }: Run, @Context() { loaders }: RequestContext) {
    return loaders.erasure.load(id);
  }
}

function reasonOf(reason: string | null | undefined): string {
  const text = reason?.trim() || 'somebody asked for it';
  if (text.length <= MAX_REASON && text.isWellFormed() && !text.includes('\0')) return text;
  throw new RecreditError('request.invalid', `reason: text of up to ${MAX_REASON} characters was wanted`);
}
