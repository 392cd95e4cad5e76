import { Field, Float, ID, Int, ObjectType } from '@nestjs/graphql';
import { Json } from '../graphql/scalars.js';

const number = { nullable: true } as const;

@ObjectType({ description: 'How far credit moves when others are left out: a jackknife. docs/comparison.md.' })
export class CreditStability {
  @Field(() => Float, { description: 'Turns that were looked at.' })
  turns!: number;

  @Field(() => String, { description: 'At a time: trajectory, or groups where the estimator looks across them.' })
  leftOut!: string;

  @Field(() => Float, { ...number, description: 'The greatest change of a turn, in the mean.' })
  meanMaxMove!: number | null;

  @Field(() => Float, { ...number, description: 'Share of the turns whose sign turns.' })
  signUnstableShare!: number | null;

  @Field(() => Float, { ...number, description: 'Standard error / |credit|, both in the mean.' })
  relativeInstability!: number | null;
}

@ObjectType({ description: 'Which way the policy gradient goes by this credit, by the lengths of gradients of turns.' })
export class GradientEffect {
  @Field(() => String, {
    nullable: true,
    description: 'What the lengths rest on: sumProbSquared or logprob of tokens; null: neither was logged.',
  })
  from!: string | null;

  @Field(() => Float)
  turns!: number;

  @Field(() => Float, { ...number, description: 'From -1, all that was done becomes less likely, to 1, more likely.' })
  push!: number | null;

  @Field(() => Float, number)
  length!: number | null;
}

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

  @Field(() => CreditStability, { ...number, description: 'null in comparisons made before there was this.' })
  stability!: CreditStability | null;

  @Field(() => GradientEffect, { ...number, description: 'null in comparisons made before there was this.' })
  gradient!: GradientEffect | null;

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

  @Field(() => Float, { description: 'Turns that they judge with opposite signs.' })
  flipCount!: number;

  @Field(() => Float, {
    ...number,
    description: 'Of the angle between the policy gradients that both give; null: undefined, or not logged.',
  })
  gradientCosine!: number | null;

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

  @Field(() => Float, {
    ...number,
    description: 'Of the angle between the policy gradient of the estimator and that of the truth.',
  })
  gradientCosine!: number | null;

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

  @Field(() => ID, { description: 'The pair that disputes it most.' })
  a!: string;

  @Field(() => ID)
  b!: string;

  @Field(() => Float, { description: 'The smaller of both credits in units of its spread.' })
  strength!: number;

  @Field(() => Json, { description: 'Credit by estimator.' })
  values!: unknown;
}

@ObjectType({ description: 'How two estimators agree about the turns of some trajectories.' })
export class TaggedPair {
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

  @Field(() => Float, { description: 'Turns that they judge with opposite signs.' })
  flipCount!: number;
}

@ObjectType()
export class TagValue {
  @Field(() => String)
  value!: string;

  @Field(() => Int)
  trajectories!: number;

  @Field(() => Float)
  turns!: number;

  @Field(() => [TaggedPair])
  pairs!: readonly TaggedPair[];
}

@ObjectType({ description: 'How estimators agree where a text signal of trajectories says the same; of the sample.' })
export class TagAgreement {
  @Field(() => String, { description: 'The signal, such as taskType or dataset.' })
  tag!: string;

  @Field(() => [TagValue], { nullable: true, description: 'null: see the reason.' })
  values!: readonly TagValue[] | null;

  @Field(() => String, { nullable: true })
  reason?: string | null;
}

@ObjectType({ description: 'What an estimator scores against labels; of the sample.' })
export class LabelScore {
  @Field(() => String, { nullable: true, description: 'Who was left out.' })
  annotator?: string | null;

  @Field(() => Float, { description: 'Turns that have both.' })
  n!: number;

  @Field(() => Float, number)
  withinTrajectoryPairAccuracy!: number | null;

  @Field(() => Float, number)
  auc!: number | null;

  @Field(() => Float, number)
  spearman!: number | null;

  @Field(() => Float, number)
  firstErrorHit!: number | null;

  @Field(() => Json, { description: 'Of each of them {low, high}, 90 %, by bootstrap over groups.' })
  intervals!: unknown;
}

@ObjectType()
export class EstimatorScores {
  @Field(() => ID)
  estimator!: string;

  @Field(() => LabelScore, { description: 'Against what most annotators say.' })
  consensus!: LabelScore;

  @Field(() => [LabelScore], { description: 'With one annotator left out.' })
  without!: readonly LabelScore[];

  @Field(() => Json, { description: 'Of each score, the greatest of `without` less the least.' })
  spread!: unknown;
}

@ObjectType()
export class ComparedAnnotator {
  @Field(() => String)
  annotator!: string;

  @Field(() => Float, { description: 'Turns labelled.' })
  turns!: number;
}

@ObjectType({ description: 'How much the scores of estimators hang on who gave the labels.' })
export class AnnotatorDependence {
  @Field(() => String)
  signal!: string;

  @Field(() => [ComparedAnnotator], { description: 'Most labels first; the first eight are left out in turn.' })
  annotators!: readonly ComparedAnnotator[];

  @Field(() => [EstimatorScores])
  estimators!: readonly EstimatorScores[];
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

  disputed!: readonly DisputedTurn[];

  tags!: readonly TagAgreement[];

  @Field(() => [AnnotatorDependence], { description: 'By signal that two or more annotators labelled turns with.' })
  annotators!: readonly AnnotatorDependence[];

  @Field(() => Json, { description: 'Everything that docs/comparison.md describes, as one document.' })
  detail!: unknown;
}
