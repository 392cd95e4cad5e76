import { Field, GraphQLISODateTime, ID, ObjectType } from '@nestjs/graphql';
import { connectionOf } from '../graphql/connection.js';

@ObjectType({ description: 'A namespace with its own runs and keys.' })
export class Project {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;
}

@ObjectType()
export class ProjectConnection extends connectionOf(Project) {}
