import { Field, Float, GraphQLISODateTime, ID, InputType, ObjectType } from '@nestjs/graphql';
import { Position } from '../graphql/scalars.js';

@ObjectType({ description: 'The tombstone of a run: its payloads are gone or going, its hashes stay.' })
export class Erasure {
  @Field(() => ID, { description: 'The run.' })
  runId!: string;

  @Field(() => Position, { description: 'Of the event run.erased: payloads before it are erased.' })
  position!: number;

  @Field(() => String)
  reason!: string;

  @Field(() => String, { description: 'Id of the key that asked for it, or `retention`.' })
  requestedBy!: string;

  @Field(() => GraphQLISODateTime)
  requestedAt!: Date;

  @Field(() => Float, { description: 'Of read models, removed.' })
  rows!: number;

  @Field(() => Float, { description: 'Of the log, purged so far.' })
  batches!: number;

  @Field(() => Float, { description: 'Of their payloads, as they were stored.' })
  payloadBytes!: number;

  @Field(() => Float, { description: 'Segments and credit, removed.' })
  files!: number;

  @Field(() => Float)
  fileBytes!: number;

  @Field(() => Float, { description: 'By which the database became smaller on disk.' })
  databaseBytes!: number;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'null: not all of it is gone yet.' })
  finishedAt!: Date | null;
}

@InputType({ description: 'What is erased cannot be had again.' })
export class EraseRunInput {
  @Field(() => ID, { description: 'Id, or name among the runs the caller sees.' })
  run!: string;

  @Field(() => String, { nullable: true, description: 'Kept in the tombstone and in the event run.erased.' })
  reason?: string | null;
}
