import { Field, Float, ID, Int, ObjectType } from '@nestjs/graphql';

/** In columns: points are many. */
@ObjectType({
  description: 'Turns with the credit that two estimators give them, a column per fact, all equally long.',
})
export class CreditSample {
  @Field(() => Boolean, { description: 'Whether turns were left out.' })
  sampled!: boolean;

  @Field(() => Float, { description: 'Turns of which both speak, in the shards that were read.' })
  ofTurns!: number;

  @Field(() => Int, { description: 'Shards that were read: spread evenly over the runs and training steps.' })
  shards!: number;

  @Field(() => Int, { description: 'Shards that are done.' })
  ofShards!: number;

  @Field(() => [Float])
  x!: readonly number[];

  @Field(() => [Float])
  y!: readonly number[];

  @Field(() => [ID])
  run!: readonly string[];

  @Field(() => [Int])
  trainingStep!: readonly number[];

  @Field(() => [ID])
  trajectory!: readonly string[];

  @Field(() => [Int])
  turn!: readonly number[];
}

@ObjectType({
  description: 'What it took to compute an estimator’s results on a device, whichever analysis asked first.',
})
export class EstimatorCost {
  @Field(() => ID, { description: 'Its label in the analysis.' })
  estimator!: string;

  @Field(() => String)
  device!: string;

  @Field(() => Int)
  shards!: number;

  @Field(() => Float)
  seconds!: number;
}
