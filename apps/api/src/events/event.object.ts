import { Field, GraphQLISODateTime, Int, ObjectType } from '@nestjs/graphql';
import { connectionOf } from '../graphql/connection.js';
import { Json, Position } from '../graphql/scalars.js';

@ObjectType({ description: 'One event of a run, in its current shape whatever version it was written in.' })
export class LoggedEvent {
  @Field(() => Position)
  position!: number;

  @Field(() => String)
  type!: string;

  @Field(() => GraphQLISODateTime, { description: "When its batch was stored, by the database's clock." })
  receivedAt!: Date;

  @Field(() => Int, { nullable: true, description: 'That it speaks of.' })
  trainingStep!: number | null;

  @Field(() => String, { nullable: true, description: 'That it speaks of.' })
  trajectory!: string | null;

  @Field(() => Int, { nullable: true, description: 'That it speaks of.' })
  turn!: number | null;

  @Field(() => Json, { description: 'All of it.' })
  event!: unknown;
}

@ObjectType()
export class LoggedEventConnection extends connectionOf(LoggedEvent) {}
