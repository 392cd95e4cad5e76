import { Field, Float, ID, Int, ObjectType } from '@nestjs/graphql';
import { connectionOf } from '../graphql/connection.js';

@ObjectType({ description: 'The rollouts of one prompt or task within one training step.' })
export class Group {
  run!: string;

  firstPosition!: number;

  @Field(() => ID, { description: 'The name that the trainer gave it; unique within a training step.' })
  name!: string;

  @Field(() => Int)
  trainingStep!: number;

  @Field(() => Int)
  trajectoryCount!: number;

  @Field(() => Int)
  finishedCount!: number;

  @Field(() => Float)
  turnCount!: number;

  @Field(() => Int, { description: 'Of the finished trajectories, those said to have succeeded or failed.' })
  judgedCount!: number;

  @Field(() => Int)
  successCount!: number;

  @Field(() => Float, { nullable: true })
  outcomeMin!: number | null;

  @Field(() => Float, { nullable: true })
  outcomeMax!: number | null;

  @Field(() => Float, { nullable: true })
  meanOutcomeReward!: number | null;
}

@ObjectType()
export class GroupConnection extends connectionOf(Group) {}
