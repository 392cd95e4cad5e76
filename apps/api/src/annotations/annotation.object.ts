import { Field, Float, GraphQLISODateTime, Int, ObjectType } from '@nestjs/graphql';
import { connectionOf } from '../graphql/connection.js';
import { Json, Position } from '../graphql/scalars.js';

@ObjectType({
  description: 'What an annotator said of a trajectory or one of its turns. Of one signal the latest wins.',
})
export class Annotation {
  @Field(() => Position)
  position!: number;

  /** of several in one event */
  item!: number;

  @Field(() => Int, { nullable: true, description: 'null: of the trajectory itself.' })
  turn!: number | null;

  @Field(() => String)
  annotator!: string;

  @Field(() => Float)
  attempt!: number;

  @Field(() => Json, { description: 'By name.' })
  signals!: unknown;

  @Field(() => String, { nullable: true })
  rationale!: string | null;

  @Field(() => String, { nullable: true, description: 'Why it failed; null: it did not.' })
  failure!: string | null;

  @Field(() => GraphQLISODateTime, { nullable: true })
  recordedAt!: Date | null;
}

@ObjectType()
export class AnnotationConnection extends connectionOf(Annotation) {}
