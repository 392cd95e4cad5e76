import { Field, Float, GraphQLISODateTime, ID, InputType, ObjectType, registerEnumType } from '@nestjs/graphql';

export enum Role {
  INGEST = 'ingest',
  READ = 'read',
  ANALYZE = 'analyze',
  ADMIN = 'admin',
}
registerEnumType(Role, { name: 'Role' });

@ObjectType({ description: 'A key; its secret is shown once, when it is made, and kept nowhere.' })
export class ApiKey {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => ID, { nullable: true, description: 'null: of every project' })
  projectId!: string | null;

  @Field(() => [Role])
  roles!: readonly Role[];

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Field(() => GraphQLISODateTime, { nullable: true })
  lastUsedAt!: Date | null;

  @Field(() => GraphQLISODateTime, { nullable: true })
  revokedAt!: Date | null;

  @Field(() => Float, { nullable: true, description: 'null: as the platform is set; 0: no limit.' })
  requestsPerSecond!: number | null;

  @Field(() => Float, { nullable: true, description: 'Of ingest. null: as the platform is set; 0: no limit.' })
  eventsPerSecond!: number | null;
}

@ObjectType()
export class CreatedApiKey {
  @Field(() => ApiKey)
  key!: ApiKey;

  @Field(() => String, { description: 'The whole key, rk_<id>_<secret>: shown this once.' })
  text!: string;
}

@InputType({ description: 'A limit that is not said is as the platform is set; 0 is none.' })
export class KeyLimitsInput {
  @Field(() => Float, { nullable: true })
  requestsPerSecond?: number | null;

  @Field(() => Float, { nullable: true })
  eventsPerSecond?: number | null;
}

@InputType()
export class CreateApiKeyInput extends KeyLimitsInput {
  @Field(() => String)
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Name or id; not said: every project, which only such a key may give.',
  })
  project?: string | null;

  @Field(() => [Role])
  roles!: Role[];
}
