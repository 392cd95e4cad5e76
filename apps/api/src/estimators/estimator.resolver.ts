import { Inject } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import { describeEstimator, ESTIMATORS, type AnyEstimator } from '#lib/credit';
import { PORTS, type ApiPorts } from '../ports.js';
import { Estimator } from './estimator.object.js';

@Resolver(() => Estimator)
export class EstimatorResolver {
  constructor(@Inject(PORTS) private readonly ports: Pick<ApiPorts, 'estimators'>) {}

  @Query(() => [Estimator], { description: "The catalogue: ours, and after them the user's own." })
  estimators(): Estimator[] {
    return (this.ports.estimators ?? ESTIMATORS).map(shownEstimator);
  }
}

function shownEstimator(estimator: AnyEstimator): Estimator {
  const { citation, ...described } = describeEstimator(estimator);
  const { paper = null, code = null, work = null } = citation;
  return { ...described, citation: { paper, code, work } };
}
