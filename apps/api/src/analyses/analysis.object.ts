import { Field, Float, GraphQLISODateTime, ID, InputType, Int, ObjectType, registerEnumType } from '@nestjs/graphql';
import { connectionOf } from '../graphql/connection.js';
import { Json, Position } from '../graphql/scalars.js';

export enum AnalysisState {
  PLANNING = 'planning',
  RUNNING = 'running',
  COMPLETED = 'completed',
  FAILED = 'failed',
  CANCELLED = 'cancelled',
}
registerEnumType(AnalysisState, { name: 'AnalysisState' });

export enum ShardState {
  QUEUED = 'queued',
  RUNNING = 'running',
  DONE = 'done',
  FAILED = 'failed',
  CANCELLED = 'cancelled',
}
registerEnumType(ShardState, { name: 'ShardState' });

/** Which states count as the same. */
export enum StatesBy {
  LAST_OBSERVATION = 'lastObservation',
  ACTION_OBSERVATION = 'actionObservation',
  FULL_HISTORY = 'fullHistory',
  SIMILARITY = 'similarity',
  EMBEDDING = 'embedding',
}
registerEnumType(StatesBy, {
  name: 'StatesBy',
  valuesMap: {
    LAST_OBSERVATION: { description: 'Those that were recorded equal.' },
    ACTION_OBSERVATION: { description: 'And the actions that led to them are equal.' },
    FULL_HISTORY: { description: 'And all that was seen and done before is equal.' },
    SIMILARITY: { description: 'Those whose texts resemble the first of their kind.' },
    EMBEDDING: {
      description:
        'Those whose embeddings are near the first of their kind, by cosine: the signal `embedding` where all turns have it, else made of their texts. Compared on the device of a worker.',
    },
  },
});

@ObjectType({ description: 'Which states count as the same, for the estimators that read states.' })
export class StateIdentity {
  @Field(() => StatesBy)
  by!: StatesBy;

  @Field(() => Float, { nullable: true, description: 'Of SIMILARITY the least ratio, of EMBEDDING the least cosine.' })
  threshold!: number | null;

  @Field(() => Boolean, { description: 'Empty states and errors are the same as no other.' })
  excludeGeneric!: boolean;
}

@InputType()
export class StateIdentityInput {
  @Field(() => StatesBy)
  by!: StatesBy;

  @Field(() => Float, { nullable: true, description: 'Of SIMILARITY and EMBEDDING; 0.95 if not said.' })
  threshold?: number | null;

  @Field(() => Boolean, { nullable: true, description: 'Empty states and errors are the same as no other.' })
  excludeGeneric?: boolean | null;
}

@ObjectType({ description: 'How far an analysis is.' })
export class Progress {
  @Field(() => AnalysisState)
  state!: AnalysisState;

  @Field(() => Int, { description: 'Shards.' })
  total!: number;

  @Field(() => Int, { description: 'Cached ones included.' })
  done!: number;

  @Field(() => Int, { description: 'Found as an earlier analysis left them.' })
  cached!: number;

  @Field(() => Int)
  failed!: number;

  @Field(() => Int)
  running!: number;

  @Field(() => Float, { nullable: true, description: 'Shards per second; null: none was computed yet.' })
  rate!: number | null;

  @Field(() => Float, { nullable: true, description: 'null: not known yet' })
  secondsLeft!: number | null;
}

@ObjectType({ description: 'A signal that an estimator needs and rows lack.' })
export class MissingSignal {
  @Field(() => String)
  path!: string;

  @Field(() => Float)
  rows!: number;

  @Field(() => Float)
  of!: number;

  @Field(() => String, { nullable: true, description: 'What a run carries instead, perhaps misspelt.' })
  recordedAs!: string | null;
}

@ObjectType({ description: 'An estimator that could not say anything, such as one of the user that threw.' })
export class EstimatorFailure {
  @Field(() => String)
  reason!: string;

  @Field(() => Int)
  shards!: number;
}

@ObjectType()
export class AnalysisEstimator {
  @Field(() => String, { description: 'Names it in this analysis: its id, or id:2 where it is asked for twice.' })
  label!: string;

  @Field(() => ID)
  id!: string;

  @Field(() => Int)
  version!: number;

  @Field(() => String, { nullable: true, description: "Of a user's own: what the sha256 of its file begins with." })
  hash!: string | null;

  @Field(() => Json, { description: 'All params, defaults included.' })
  params!: unknown;

  @Field(() => [MissingSignal], { description: 'What it lacked, over the shards where it lacked it.' })
  inputsMissing!: MissingSignal[];

  @Field(() => [String])
  warnings!: string[];

  @Field(() => [EstimatorFailure], { description: 'Why it failed where it did; the others went on.' })
  failures!: EstimatorFailure[];
}

@ObjectType()
export class AnalysisRun {
  @Field(() => ID)
  run!: string;

  @Field(() => Position, { nullable: true })
  asOf!: number | null;
}

@ObjectType({ description: 'One run and training step of an analysis.' })
export class Shard {
  @Field(() => ID)
  run!: string;

  @Field(() => Int)
  trainingStep!: number;

  @Field(() => ShardState)
  state!: ShardState;

  @Field(() => Boolean)
  cached!: boolean;

  @Field(() => Int)
  trajectoryCount!: number;

  @Field(() => Int)
  tries!: number;

  @Field(() => String, { nullable: true, description: 'Why its last try failed.' })
  reason!: string | null;

  @Field(() => String, { nullable: true })
  device!: string | null;

  @Field(() => Float, { nullable: true })
  seconds!: number | null;
}

@ObjectType({
  description: 'What was asked for and is known: credit of some runs by some estimators, as of a position.',
})
export class Analysis {
  project!: string;

  @Field(() => ID)
  id!: string;

  @Field(() => AnalysisState)
  state!: AnalysisState;

  @Field(() => String, { nullable: true, description: 'Why it could not be planned.' })
  failure!: string | null;

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Field(() => GraphQLISODateTime, { nullable: true })
  finishedAt!: Date | null;

  @Field(() => StateIdentity)
  stateIdentity!: StateIdentity;

  chosen!: readonly { label: string; id: string; version: number; hash?: string; params: unknown }[];
}

@ObjectType()
export class AnalysisConnection extends connectionOf(Analysis) {}

@ObjectType()
export class ShardConnection extends connectionOf(Shard) {}

@InputType()
export class EstimatorInput {
  @Field(() => String)
  id!: string;

  @Field(() => Json, { nullable: true, description: 'An object; what is left out has its default.' })
  params?: unknown;
}

@InputType()
export class RunAsOfInput {
  @Field(() => ID, { description: 'Id, or name among the runs the caller sees.' })
  run!: string;

  @Field(() => Position, { nullable: true, description: 'If not said: the position of the request itself.' })
  asOf?: number | null;
}

@InputType()
export class StartAnalysisInput {
  @Field(() => [RunAsOfInput])
  runs!: RunAsOfInput[];

  @Field(() => [EstimatorInput])
  estimators!: EstimatorInput[];

  @Field(() => Int, { nullable: true })
  firstStep?: number | null;

  @Field(() => Int, { nullable: true })
  lastStep?: number | null;

  @Field(() => StateIdentityInput, { nullable: true, description: 'If not said: states as they were recorded.' })
  stateIdentity?: StateIdentityInput | null;
}
