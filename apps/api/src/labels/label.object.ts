import { Field, Float, ID, Int, ObjectType } from '@nestjs/graphql';
import { Json } from '../graphql/scalars.js';

@ObjectType({ description: 'How far two sets of labels agree, over the turns that have both.' })
export class RaterAgreement {
  @Field(() => Int)
  turns!: number;

  @Field(() => Int)
  trajectories!: number;

  @Field(() => Float, { nullable: true, description: "Cohen's κ; null where only one label was given." })
  kappa!: number | null;

  @Field(() => Float, { nullable: true, description: '90 % interval, by bootstrap over trajectories.' })
  kappaLow!: number | null;

  @Field(() => Float, { nullable: true })
  kappaHigh!: number | null;

  @Field(() => Float, { nullable: true, description: 'Share of the turns with the same label.' })
  sameShare!: number | null;

  @Field(() => Float, { nullable: true, description: 'Share of the trajectories whose first -1 is the same turn.' })
  firstErrorShare!: number | null;

  @Field(() => Float, { nullable: true })
  macroF1!: number | null;

  @Field(() => [[Int]], { description: 'Rows: labels -1, 0, 1 of the one; columns: of the other.' })
  confusion!: readonly (readonly number[])[];
}

@ObjectType({
  description: 'AgentProcessBench and ProcessBench, see docs/annotators.md: against what most people say.',
})
export class RaterBenchmark {
  @Field(() => Int, { description: 'Trajectories it was asked about and people labelled.' })
  records!: number;

  @Field(() => Float, { nullable: true, description: 'Matching labels / reference labels; none given is no match.' })
  stepAcc!: number | null;

  @Field(() => Float, { nullable: true })
  firstErrorAcc!: number | null;

  @Field(() => Float, { nullable: true })
  trajectoryExactAcc!: number | null;

  @Field(() => Float, { nullable: true })
  missingOrFailedRatio!: number | null;

  @Field(() => Float, { nullable: true, description: 'Per cent of the first errors that it names exactly.' })
  errorAcc!: number | null;

  @Field(() => Float, { nullable: true, description: 'Per cent of the trajectories without error that it calls so.' })
  correctAcc!: number | null;

  @Field(() => Float, { nullable: true, description: 'Their harmonic mean.' })
  f1!: number | null;

  @Field(() => Json, { description: 'The first five of them by data set.' })
  byDataset!: unknown;
}

@ObjectType({ description: 'What an annotator labelled under one signal.' })
export class Rater {
  @Field(() => String)
  annotator!: string;

  @Field(() => String)
  signal!: string;

  @Field(() => Int)
  turns!: number;

  @Field(() => Int)
  trajectories!: number;

  @Field(() => [Int], { description: 'Turns labelled -1, 0, 1.' })
  byLabel!: readonly number[];

  @Field(() => RaterAgreement, {
    nullable: true,
    description: 'Against what most of the others say under the same signal; null where there is no other.',
  })
  others!: RaterAgreement | null;

  @Field(() => RaterBenchmark, { nullable: true, description: 'null where nobody else labelled what it did.' })
  benchmark!: RaterBenchmark | null;
}

@ObjectType()
export class RaterPair {
  @Field(() => Int, { description: 'Which of the raters.' })
  first!: number;

  @Field(() => Int)
  second!: number;

  @Field(() => RaterAgreement, { description: "Rows are the first one's labels." })
  agreement!: RaterAgreement;
}

@ObjectType({ description: 'Who labelled the turns of a run, and how far they agree.' })
export class LabelReport {
  @Field(() => ID)
  run!: string;

  @Field(() => Boolean, { description: 'There are more labels or raters than are looked at.' })
  sampled!: boolean;

  @Field(() => [Rater])
  raters!: readonly Rater[];

  @Field(() => [RaterPair])
  pairs!: readonly RaterPair[];
}
