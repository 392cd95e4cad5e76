import { Field, ID, ObjectType } from '@nestjs/graphql';
import { Json } from '../graphql/scalars.js';

@ObjectType({ description: 'The same estimators in two analyses, number by number.' })
export class ComparisonDifference {
  @Field(() => ID)
  first!: string;

  @Field(() => ID)
  second!: string;

  @Field(() => Boolean, { description: 'They have a run in common: then no difference has an interval.' })
  shareRuns!: boolean;

  @Field(() => [String], { description: 'Labels of estimators that the second one does not have.' })
  onlyFirst!: readonly string[];

  @Field(() => [String])
  onlySecond!: readonly string[];

  @Field(() => Json, { description: 'Of the outcomes: {number, first, second, difference, low, high}.' })
  outcomes!: unknown;

  @Field(() => Json, { description: 'Per estimator: what else differs between them (differsIn), and its numbers.' })
  estimators!: unknown;

  @Field(() => Json, {
    description: 'Per truth and estimator its numbers; `low` and `high` are 90 % of the difference.',
  })
  truths!: unknown;
}
