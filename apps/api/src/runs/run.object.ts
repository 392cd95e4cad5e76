import { Field, Float, GraphQLISODateTime, ID, InputType, Int, ObjectType, registerEnumType } from '@nestjs/graphql';
import { connectionOf } from '../graphql/connection.js';
import { Json, Position } from '../graphql/scalars.js';

export enum RunState {
  RUNNING = 'running',
  COMPLETED = 'completed',
  FAILED = 'failed',
  STOPPED = 'stopped',
  ERASED = 'erased',
}
registerEnumType(RunState, { name: 'RunState' });

@ObjectType({ description: 'One training or evaluation run: an event stream.' })
export class Run {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'Name of its project.' })
  project!: string;

  @Field(() => Json)
  config!: unknown;

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;
}

/** What the projector has seen of a run. */
@ObjectType({ description: 'What has been seen of a run so far; superseded trajectories are not in it.' })
export class RunProgress {
  @Field(() => RunState)
  state!: RunState;

  @Field(() => Position, { description: 'Events projected.' })
  position!: number;

  @Field(() => Int, { nullable: true })
  lastTrainingStep!: number | null;

  @Field(() => Int)
  trajectoryCount!: number;

  @Field(() => Int)
  finishedCount!: number;

  @Field(() => Int, { description: 'Ended, but turns are missing.' })
  incompleteCount!: number;

  @Field(() => Float)
  turnCount!: number;

  @Field(() => Int)
  groupCount!: number;

  @Field(() => Float, {
    nullable: true,
    description: 'Share that succeeded of the finished trajectories that say whether they did; null: none says.',
  })
  successRate!: number | null;

  @Field(() => Float, { nullable: true })
  meanOutcomeReward!: number | null;

  @Field(() => GraphQLISODateTime, { nullable: true })
  lastEventAt!: Date | null;
}

@ObjectType({ description: 'How many rows of a level carry a signal.' })
export class SignalSummary {
  @Field(() => String)
  level!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'recorded: by the trainer; annotated: later' })
  source!: string;

  @Field(() => Float)
  rows!: number;

  @Field(() => Float, { nullable: true })
  minimum!: number | null;

  @Field(() => Float, { nullable: true })
  maximum!: number | null;

  @Field(() => Float, { nullable: true })
  mean!: number | null;

  @Field(() => String, { nullable: true, description: 'null: a signal that nobody knows; it is kept like any other.' })
  meaning?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Of one that nobody knows: which was perhaps meant, with its level.',
  })
  suggestion?: string | null;

  @Field(() => [String], { description: 'Ids of the estimators that may read it.' })
  readBy?: readonly string[];
}

@ObjectType()
export class RunConnection extends connectionOf(Run) {
  /** asked only by whoever wants to know: it reads every run that the list may hold */
  countAll!: () => Promise<number>;
}

/** What a list of runs is sorted by. */
export enum RunSort {
  CREATED = 'created',
  NAME = 'name',
  PROJECT = 'project',
  STATE = 'state',
  ALERTS = 'alerts',
  TRAINING_STEPS = 'training-steps',
  TRAJECTORIES = 'trajectories',
  TURNS = 'turns',
  SUCCESS_RATE = 'success-rate',
  LAST_EVENT = 'last-event',
}
registerEnumType(RunSort, {
  name: 'RunSort',
  description: 'What is not known stands last, whichever way it is sorted.',
  valuesMap: {
    NAME: { description: 'Upper and lower case are the same.' },
    ALERTS: { description: 'By the worst level among the open ones, then by how many there are.' },
    TRAINING_STEPS: { description: 'By the last one.' },
  },
});

@InputType()
export class RunOrder {
  @Field(() => RunSort)
  by!: RunSort;

  @Field(() => Boolean, { nullable: true, description: 'Largest, newest or worst first; false if not said.' })
  descending?: boolean | null;
}

@InputType()
export class RunFilter {
  @Field(() => String, {
    nullable: true,
    description:
      'Words that all stand in the id, the name, the project or the config of a run, each at any place. Upper and lower case are the same.',
  })
  text?: string | null;

  @Field(() => RunState, { nullable: true })
  state?: RunState | null;

  @Field(() => Boolean, { nullable: true })
  hasOpenAlerts?: boolean | null;
}

@ObjectType({ description: 'A run got further.' })
export class RunAdvanced {
  @Field(() => ID)
  run!: string;

  @Field(() => Position)
  position!: number;

  @Field(() => RunProgress)
  progress!: RunProgress;
}
