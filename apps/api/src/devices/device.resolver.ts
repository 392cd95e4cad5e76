import { Field, ID, ObjectType, Query, Resolver } from '@nestjs/graphql';

@ObjectType({ description: 'What shards are computed on.' })
export class Device {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  description!: string;
}

/** Closed-form estimators run on the processor of whichever worker takes the shard. */
const PROCESSOR: Device = { id: 'cpu', description: 'the processors of the workers, typed arrays in float64' };

@Resolver(() => Device)
export class DeviceResolver {
  @Query(() => [Device])
  devices(): Device[] {
    return [PROCESSOR];
  }
}
