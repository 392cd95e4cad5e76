import { Inject } from '@nestjs/common';
import { Args, Context, Int, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { RecreditError } from '#lib/kernel';
import { queryable } from '../graphql/queryable.js';
import type { RequestContext } from '../graphql/request-context.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { Analysis } from './analysis.object.js';
import { creditSample } from './credit-sample.js';
import { CreditSample, EstimatorCost } from './credit-sample.object.js';

const DEFAULT_POINTS = 1_500;
const MAX_POINTS = 10_000;

/** What is not in the comparison that was stored: single turns, and what computing them took. */
@Resolver(() => Analysis)
export class CreditSampleResolver {
  constructor(@Inject(PORTS) private readonly ports: Pick<ApiPorts, 'store'>) {}

  @ResolveField(() => CreditSample, { description: 'Turns by the credit of two estimators, as points of a plane.' })
  creditSample(
    @Parent() { id, chosen }: Analysis,
    @Args('x', { type: () => String, description: 'The label of an estimator.' }) x: string,
    @Args('y', { type: () => String, description: 'The label of another.' }) y: string,
    @Args('points', { type: () => Int, nullable: true, defaultValue: DEFAULT_POINTS, description: 'About so many.' })
    asked: number | null,
    @Context() { db }: RequestContext,
  ): Promise<CreditSample> {
    const labels = chosen.map(({ label }) => label);
    for (const label of [x, y]) {
      if (labels.includes(label)) continue;
      throw new RecreditError('query.invalid', `one of ${labels.join(', ')} was wanted, found ${label}`);
    }
    const points = asked ?? DEFAULT_POINTS;
    if (points < 1 || points > MAX_POINTS) {
      throw new RecreditError('query.invalid', `points: a number from 1 to ${MAX_POINTS} was wanted, found ${points}`);
    }
    return creditSample(queryable(db), this.ports.store, id, { x, y, points });
  }

  @ResolveField(() => [EstimatorCost], { description: 'By estimator and device.' })
  async costs(@Parent() { id, chosen }: Analysis, @Context() { loaders }: RequestContext): Promise<EstimatorCost[]> {
    const costs = await loaders.analysisCosts.load(id);
    return costs.map(({ place, device, shards, seconds }) => ({
      estimator: chosen[place].label,
      device,
      shards,
      seconds,
    }));
  }
}
