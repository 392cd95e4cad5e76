import { Args, Context, ID, Query, Resolver } from '@nestjs/graphql';
import { comparisonDifference, type ComparedAnalysis } from '#lib/diagnostics';
import { RecreditError } from '#lib/kernel';
import type { RequestContext } from '../graphql/request-context.js';
import type { Analysis } from './analysis.object.js';
import { analysisById } from './analysis.reader.js';
import { ComparisonDifference } from './difference.object.js';

@Resolver(() => ComparisonDifference)
export class DifferenceResolver {
  @Query(() => ComparisonDifference, {
    nullable: true,
    description: 'Holds one analysis against another, such as of another run, estimator by estimator.',
  })
  async comparisonDifference(
    @Args('analysis', { type: () => ID }) firstId: string,
    @Args('against', { type: () => ID }) secondId: string,
    @Context() { db, loaders }: RequestContext,
  ): Promise<ComparisonDifference | null> {
    const [first, second] = await Promise.all([analysisById(db, firstId), analysisById(db, secondId)]);
    if (!first || !second) return null;
    const [one, other] = await Promise.all([compared(first, loaders), compared(second, loaders)]);
    return { first: first.id, second: second.id, ...comparisonDifference(one, other) };
  }
}

/** @throws RecreditError `request.invalid` */
async function compared(
  { id, state, chosen }: Analysis,
  loaders: RequestContext['loaders'],
): Promise<ComparedAnalysis> {
  const [comparison, runs] = await Promise.all([loaders.comparison.load(id), loaders.analysisRuns.load(id)]);
  if (!comparison) throw new RecreditError('request.invalid', `analysis ${id} has no comparison: it is ${state}`);
  return { comparison, runs: runs.map(({ run }) => run), estimators: chosen };
}
