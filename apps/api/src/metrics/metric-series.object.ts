import { Field, Float, Int, ObjectType } from '@nestjs/graphql';

@ObjectType()
export class MetricPoint {
  @Field(() => Int)
  trainingStep!: number;

  @Field(() => Float, { nullable: true, description: 'null: could not be measured' })
  value!: number | null;
}

@ObjectType({ description: 'One metric over the training steps of a run.' })
export class MetricSeries {
  @Field(() => String)
  name!: string;

  @Field(() => [MetricPoint])
  points!: MetricPoint[];

  @Field(() => Boolean, { description: 'Whether points were left out.' })
  sampled!: boolean;

  @Field(() => Int, { description: 'How many points there are.' })
  count!: number;
}
