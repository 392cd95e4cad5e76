import { Field, Float, GraphQLISODateTime, Int, ObjectType } from '@nestjs/graphql';
import { connectionOf } from '../graphql/connection.js';
import { Json } from '../graphql/scalars.js';

@ObjectType({ description: 'One optimizer iteration: one policy version.' })
export class TrainingStep {
  @Field(() => Int)
  trainingStep!: number;

  @Field(() => Int)
  trajectoryCount!: number;

  @Field(() => Int)
  finishedCount!: number;

  @Field(() => Int)
  groupCount!: number;

  @Field(() => Float)
  turnCount!: number;

  @Field(() => Float, { nullable: true })
  successRate!: number | null;

  @Field(() => Float, { nullable: true })
  meanOutcomeReward!: number | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'When the trainer recorded its metrics.' })
  recordedAt!: Date | null;

  @Field(() => Json, { description: 'What the trainer measured, by name.' })
  metrics!: unknown;
}

@ObjectType()
export class TrainingStepConnection extends connectionOf(TrainingStep) {}
