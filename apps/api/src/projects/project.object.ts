import { Field, GraphQLISODateTime, ID, Int, ObjectType } from '@nestjs/graphql';
import { connectionOf } from '../graphql/connection.js';

@ObjectType({ description: 'A namespace with its own runs and keys.' })
export class Project {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Field(() => Int, {
    nullable: true,
    description: 'Its runs are erased so many days after they ended and nothing came any more; null: never.',
  })
  retentionDays!: number | null;
}

@ObjectType()
export class ProjectConnection extends connectionOf(Project) {}
