import { Field, Float, GraphQLISODateTime, ID, InputType, Int, ObjectType, registerEnumType } from '@nestjs/graphql';
import { Position } from '../graphql/scalars.js';

export enum NearestState {
  RUNNING = 'running',
  COMPLETED = 'completed',
  FAILED = 'failed',
}
registerEnumType(NearestState, { name: 'NearestState' });

/** Where turns like a turn are sought. */
export enum NearestWithin {
  RUN = 'run',
  TASK = 'task',
  GROUP = 'group',
}
registerEnumType(NearestWithin, {
  name: 'NearestWithin',
  valuesMap: {
    RUN: { description: 'In all trajectories of the run.' },
    TASK: { description: "In groups of its group's name, in every training step." },
    GROUP: { description: 'In its own group.' },
  },
});

export enum StatesComparedBy {
  EMBEDDING = 'embedding',
  TEXT = 'text',
}
registerEnumType(StatesComparedBy, {
  name: 'StatesComparedBy',
  valuesMap: {
    EMBEDDING: { description: 'The cosine of the logged signal `embedding`.' },
    TEXT: { description: 'The cosine of features of their texts: words and pairs of words, weighted by TF-IDF.' },
  },
});

@ObjectType({ description: 'A turn that began in a similar state.' })
export class NearTurn {
  run!: string;

  @Field(() => ID)
  trajectory!: string;

  @Field(() => Int, { description: 'Of the turn in its trajectory.' })
  index!: number;

  @Field(() => Int)
  trainingStep!: number;

  @Field(() => ID)
  group!: string;

  @Field(() => Float, { nullable: true, description: 'Of its trajectory.' })
  outcomeReward!: number | null;

  @Field(() => Float, { description: 'Cosine of the two states, at most 1.' })
  similarity!: number;
}

@ObjectType({ description: 'Trajectories that failed, and that succeeded.' })
export class ComparedTrajectories {
  @Field(() => Int)
  failures!: number;

  @Field(() => Int)
  successes!: number;
}

@ObjectType({ description: 'Trajectories that were not compared.' })
export class TrajectoriesLeftOut {
  @Field(() => Int, { description: 'Neither `success` nor an outcome reward says how they ended.' })
  unjudged!: number;

  @Field(() => Int, { description: 'No turn of them has a state to compare.' })
  incomparable!: number;
}

@ObjectType({
  description: 'Turns that began in a state like that of a turn, of trajectories that failed and that succeeded.',
})
export class NearestTurns {
  @Field(() => ID)
  id!: string;

  @Field(() => ID)
  run!: string;

  @Field(() => ID, { description: 'That of the turn; it is not searched itself.' })
  trajectory!: string;

  @Field(() => Int, { description: 'Of the turn.' })
  index!: number;

  @Field(() => Int, { description: 'So many failures and so many successes, at most.' })
  k!: number;

  @Field(() => NearestWithin)
  within!: NearestWithin;

  @Field(() => Position, { description: 'It looks at events before this position.' })
  asOf!: number;

  @Field(() => NearestState)
  state!: NearestState;

  @Field(() => String, { nullable: true, description: 'Why it failed.' })
  failure!: string | null;

  @Field(() => StatesComparedBy, { nullable: true, description: 'null, as what follows is empty, until it has ended.' })
  by!: StatesComparedBy | null;

  @Field(() => [NearTurn], { description: 'Most similar first; of each trajectory its nearest turn.' })
  failures!: NearTurn[];

  @Field(() => [NearTurn], { description: 'As `failures`.' })
  successes!: NearTurn[];

  @Field(() => ComparedTrajectories, { nullable: true })
  compared!: ComparedTrajectories | null;

  @Field(() => TrajectoriesLeftOut, { nullable: true })
  leftOut!: TrajectoriesLeftOut | null;

  @Field(() => [String], { description: 'What computed it.' })
  devices!: string[];

  @Field(() => [String])
  warnings!: string[];

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Field(() => GraphQLISODateTime, { nullable: true })
  finishedAt!: Date | null;
}

@InputType({ description: 'A turn whose like is sought.' })
export class FindNearestTurnsInput {
  @Field(() => ID, { description: 'Id, or name among the runs the caller sees.' })
  run!: string;

  @Field(() => ID)
  trajectory!: string;

  @Field(() => Int, { description: 'Of the turn.' })
  index!: number;

  @Field(() => Int, { nullable: true, description: 'So many failures and so many successes, 1 to 50; 5 if not said.' })
  k?: number | null;

  @Field(() => NearestWithin, { nullable: true, description: 'RUN if not said.' })
  within?: NearestWithin | null;

  @Field(() => Position, { nullable: true, description: 'All that there is if not said.' })
  asOf?: number | null;
}
