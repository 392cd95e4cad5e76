import { Field, Float, ID, InputType, Int, ObjectType, registerEnumType } from '@nestjs/graphql';
import { connectionOf } from '../graphql/connection.js';
import { Json, Position } from '../graphql/scalars.js';

export enum TrajectoryState {
  LIVE = 'live',
  FINISHED = 'finished',
  INCOMPLETE = 'incomplete',
}
registerEnumType(TrajectoryState, {
  name: 'TrajectoryState',
  valuesMap: { INCOMPLETE: { description: 'It ended, but turns of it are missing.' } },
});

@ObjectType({ description: 'Where a trajectory branches off another one.' })
export class TrajectoryParent {
  @Field(() => ID)
  trajectory!: string;

  @Field(() => Int, { description: 'Last turn they share; -1: only the prompt.' })
  turn!: number;
}

@ObjectType({ description: 'One rollout.' })
export class Trajectory {
  run!: string;

  firstPosition!: number;

  @Field(() => ID)
  id!: string;

  @Field(() => ID)
  group!: string;

  @Field(() => Int)
  trainingStep!: number;

  @Field(() => TrajectoryState)
  state!: TrajectoryState;

  @Field(() => Float, { nullable: true })
  outcomeReward!: number | null;

  @Field(() => Boolean, { nullable: true })
  success!: boolean | null;

  @Field(() => TrajectoryParent, { nullable: true })
  parent!: TrajectoryParent | null;

  @Field(() => Json)
  signals!: unknown;

  @Field(() => Int)
  turnCount!: number;

  @Field(() => Position, { nullable: true, description: 'Of the event since which it is whole.' })
  endPosition!: number | null;

  @Field(() => Json, { nullable: true, description: 'Missing or repeated turns, named; null: none.' })
  problems!: unknown;
}

@ObjectType({ description: 'What one estimator of an analysis says about a turn.' })
export class TurnCredit {
  @Field(() => String, { description: 'Its label in the analysis.' })
  estimator!: string;

  @Field(() => Float, {
    nullable: true,
    description: 'Of credit per token the mean over the tokens with mask 1. null: it says nothing here',
  })
  credit!: number | null;

  @Field(() => String, {
    nullable: true,
    description: 'What carries the credit: trajectory, turn or token; null: it says nothing here',
  })
  level!: string | null;

  @Field(() => [Float], {
    nullable: 'itemsAndList',
    description: 'Of each token, where tokens carry the credit; null: they do not, or nothing is said of that one.',
  })
  tokenCredit!: readonly (number | null)[] | null;

  @Field(() => Json, { description: 'What the credit was made of, by column.' })
  explain!: unknown;
}

@ObjectType({ description: 'One thought-action-observation step.' })
export class Turn {
  run!: string;

  trajectory!: string;

  trainingStep!: number;

  @Field(() => Int)
  index!: number;

  @Field(() => String, { description: 'What the agent saw before acting: text, or chat messages as JSON.' })
  state!: string;

  @Field(() => String)
  action!: string;

  @Field(() => Float, { nullable: true })
  reward!: number | null;

  @Field(() => Json)
  signals!: unknown;

  @Field(() => Json, { nullable: true, description: 'Columns with one entry per token.' })
  tokens!: unknown;
}

@ObjectType()
export class TrajectoryConnection extends connectionOf(Trajectory) {}

@ObjectType()
export class TurnConnection extends connectionOf(Turn) {}

@InputType()
export class TrajectoryFilter {
  @Field(() => Int, { nullable: true })
  trainingStep?: number | null;

  @Field(() => String, { nullable: true })
  group?: string | null;

  @Field(() => Boolean, { nullable: true })
  success?: boolean | null;

  @Field(() => TrajectoryState, { nullable: true })
  state?: TrajectoryState | null;
}
