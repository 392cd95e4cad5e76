import { Field, Float, ID, Int, ObjectType } from '@nestjs/graphql';
import { Json } from '../graphql/scalars.js';

const number = { nullable: true } as const;

@ObjectType({ description: 'What one estimator says over the whole analysis. null: undefined; `reasons` says why.' })
export class EstimatorProfile {
  @Field(() => ID, { description: 'Its label in the analysis.' })
  id!: string;

  @Field(() => Float)
  turns!: number;

  @Field(() => Int)
  groupsWithSignal!: number;

  @Field(() => Float, { ...number, description: 'Share of turns with credit other than 0.' })
  signalDensity!: number | null;

  @Field(() => Float, number)
  mean!: number | null;

  @Field(() => Float, number)
  std!: number | null;

  @Field(() => Float, { ...number, description: 'Share of the variance that lies inside trajectories.' })
  withinTrajectoryShare!: number | null;

  @Field(() => Float, number)
  gini!: number | null;

  @Field(() => Float, number)
  effectiveTurns!: number | null;

  @Field(() => Json, { description: 'All of its numbers, as in docs/comparison.md.' })
  detail!: unknown;
}

@ObjectType({ description: 'How two estimators agree.' })
export class EstimatorPair {
  @Field(() => ID)
  a!: string;

  @Field(() => ID)
  b!: string;

  @Field(() => Float)
  n!: number;

  @Field(() => Float, number)
  pearson!: number | null;

  @Field(() => Float, number)
  spearman!: number | null;

  @Field(() => Float, number)
  signAgreement!: number | null;

  @Field(() => Json)
  detail!: unknown;
}

@ObjectType({ description: 'How an estimator agrees with a truth; intervals are 90 %.' })
export class TruthAgreement {
  @Field(() => String)
  signal!: string;

  @Field(() => ID)
  estimator!: string;

  @Field(() => Float)
  n!: number;

  @Field(() => Float, number)
  auc!: number | null;

  @Field(() => Float, number)
  aucLow!: number | null;

  @Field(() => Float, number)
  aucHigh!: number | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Over the turns of groups whose outcomes differ alone: an easy task does not flatter it.',
  })
  aucMixedGroups!: number | null;

  @Field(() => Float, number)
  spearman!: number | null;

  @Field(() => Float, number)
  low!: number | null;

  @Field(() => Float, number)
  high!: number | null;

  @Field(() => Float, number)
  withinTrajectoryPairAccuracy!: number | null;

  @Field(() => Json)
  detail!: unknown;
}

@ObjectType({ description: 'A turn that two estimators judge with opposite signs.' })
export class DisputedTurn {
  @Field(() => ID)
  run!: string;

  @Field(() => ID)
  trajectory!: string;

  @Field(() => Int)
  turn!: number;

  @Field(() => Json, { description: 'Credit by estimator.' })
  values!: unknown;
}

@ObjectType({ description: 'What rank statistics and intervals rest on; all else is exact.' })
export class ComparisonSample {
  @Field(() => Boolean)
  sampled!: boolean;

  @Field(() => Float)
  turns!: number;

  @Field(() => Float)
  ofTurns!: number;

  @Field(() => Int)
  trajectories!: number;

  @Field(() => Int)
  ofTrajectories!: number;
}

@ObjectType({ description: 'Several credits of the same turns, side by side.' })
export class Comparison {
  @Field(() => Int)
  trajectories!: number;

  @Field(() => Float)
  turns!: number;

  @Field(() => Int)
  groups!: number;

  @Field(() => Int, { description: 'Groups of two or more whose outcome rewards differ.' })
  groupsWithSignal!: number;

  @Field(() => Float, number)
  successRate!: number | null;

  @Field(() => Float, number)
  meanOutcome!: number | null;

  @Field(() => ComparisonSample)
  sample!: ComparisonSample;

  @Field(() => [EstimatorProfile])
  estimators!: EstimatorProfile[];

  @Field(() => [EstimatorPair])
  pairs!: EstimatorPair[];

  @Field(() => [TruthAgreement])
  truths!: TruthAgreement[];

  @Field(() => [DisputedTurn])
  disputed!: DisputedTurn[];

  @Field(() => Json, { description: 'Everything that docs/comparison.md describes, as one document.' })
  detail!: unknown;
}
