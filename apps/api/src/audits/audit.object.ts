import { Field, GraphQLISODateTime, ID, InputType, Int, ObjectType, registerEnumType } from '@nestjs/graphql';
import { connectionOf } from '../graphql/connection.js';
import { Json, Position } from '../graphql/scalars.js';

export enum AuditState {
  RUNNING = 'running',
  COMPLETED = 'completed',
  FAILED = 'failed',
}
registerEnumType(AuditState, { name: 'AuditState' });

@ObjectType({ description: "The trainer's own advantages, held against an estimator's." })
export class Audit {
  @Field(() => ID)
  id!: string;

  @Field(() => ID)
  run!: string;

  @Field(() => Position, { description: 'It looks at events before this position.' })
  asOf!: number;

  @Field(() => String, { description: 'Id of the estimator that the trainer is said to use.' })
  estimator!: string;

  @Field(() => Int)
  version!: number;

  @Field(() => Json)
  params!: unknown;

  @Field(() => String, { description: "Of the trainer's own advantages." })
  signal!: string;

  @Field(() => AuditState)
  state!: AuditState;

  @Field(() => String, { nullable: true, description: 'Why it failed.' })
  failure!: string | null;

  @Field(() => Json, {
    nullable: true,
    description:
      'Verdicts over the training steps, with what explains them, what fits equally well, the rows that are furthest off, and the steps at which the finding changes; null until it has ended.',
  })
  result!: unknown;

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Field(() => GraphQLISODateTime, { nullable: true })
  finishedAt!: Date | null;
}

@ObjectType()
export class AuditConnection extends connectionOf(Audit) {}

@InputType({ description: 'What the trainer says it did with the advantages that it logged.' })
export class StartAuditInput {
  @Field(() => ID, { description: 'Id, or name among the runs the caller sees.' })
  run!: string;

  @Field(() => String, { description: 'Id of an estimator.' })
  estimator!: string;

  @Field(() => Json, { nullable: true })
  params?: unknown;

  @Field(() => String, { nullable: true, description: '`loggedAdvantage` if not said.' })
  signal?: string | null;

  @Field(() => Position, { nullable: true, description: 'All that there is if not said.' })
  asOf?: number | null;
}
