import { Query, Resolver } from '@nestjs/graphql';
import { describeEstimator, ESTIMATORS, type AnyEstimator } from '#lib/credit';
import { Estimator } from './estimator.object.js';

@Resolver(() => Estimator)
export class EstimatorResolver {
  @Query(() => [Estimator], { description: 'The catalogue.' })
  estimators(): Estimator[] {
    return ESTIMATORS.map(shownEstimator);
  }
}

function shownEstimator(estimator: AnyEstimator): Estimator {
  const { citation, ...described } = describeEstimator(estimator);
  const { paper = null, code = null, work = null } = citation;
  return { ...described, citation: { paper, code, work } };
}
