import { Query, Resolver } from '@nestjs/graphql';
import { ESTIMATORS, needsOf, paramsSchema, parseParams, type AnyEstimator } from '#lib/credit';
import { Estimator } from './estimator.object.js';

@Resolver(() => Estimator)
export class EstimatorResolver {
  @Query(() => [Estimator], { description: 'The catalogue.' })
  estimators(): Estimator[] {
    return ESTIMATORS.map(shownEstimator);
  }
}

function shownEstimator(estimator: AnyEstimator): Estimator {
  const { id, version, title, status, gives, levels, citation } = estimator;
  const { requires, accepts } = needsOf(estimator, parseParams(estimator));
  const { paper = null, code = null, work = null } = citation;
  return {
    id,
    version,
    title,
    status,
    gives,
    levels,
    requires,
    accepts,
    params: paramsSchema(estimator),
    citation: { paper, code, work },
  };
}
