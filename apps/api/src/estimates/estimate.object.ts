import { Field, ID, InputType, Int, ObjectType } from '@nestjs/graphql';
import { MissingSignal } from '../analyses/analysis.object.js';
import { Json } from '../graphql/scalars.js';

@InputType({ description: 'Trajectories that somebody holds, and what is to be said of them.' })
export class EstimateInput {
  @Field(() => ID)
  estimator!: string;

  @Field(() => Json, { nullable: true, description: 'An object; what is left out has its default.' })
  params?: unknown;

  @Field(() => Json, { description: 'A list, each as the event trajectory.recorded has it.' })
  trajectories!: unknown;
}

@ObjectType({
  description:
    'Credit for trajectories in the order in which they were sent, nested like them. null: nothing is said there.',
})
export class Estimate {
  @Field(() => ID)
  estimator!: string;

  @Field(() => Int)
  version!: number;

  @Field(() => String, { nullable: true, description: "Of a user's own: what the sha256 of its file begins with." })
  hash!: string | null;

  @Field(() => Json, { description: 'All params, defaults included.' })
  params!: unknown;

  @Field(() => [MissingSignal], { description: 'Not empty: nothing else is said.' })
  missing!: MissingSignal[];

  @Field(() => String, { nullable: true, description: 'What carries the credit: trajectory, turn or token.' })
  level!: string | null;

  @Field(() => Json, { nullable: true, description: '[trajectories]' })
  trajectoryAdvantage!: unknown;

  @Field(() => Json, { nullable: true, description: '[trajectories][turns]' })
  turnAdvantage!: unknown;

  @Field(() => Json, { nullable: true, description: '[trajectories][turns][tokens]' })
  tokenAdvantage!: unknown;

  @Field(() => Json, { description: 'What the credit was made of, by name, nested like its level.' })
  columns!: unknown;

  @Field(() => [String], { description: 'Names, in the order of columns that have a value per group.' })
  groups!: readonly string[];

  @Field(() => [String])
  warnings!: readonly string[];
}
