import { Field, ID, Int, ObjectType } from '@nestjs/graphql';
import { Json } from '../graphql/scalars.js';

@ObjectType()
export class Citation {
  @Field(() => String, { nullable: true })
  paper!: string | null;

  @Field(() => String, { nullable: true, description: 'owner/repository:path@commit' })
  code!: string | null;

  @Field(() => String, { nullable: true, description: 'Where there is neither an arXiv number nor public code.' })
  work!: string | null;
}

@ObjectType({ description: 'A named way to assign credit.' })
export class Estimator {
  @Field(() => ID)
  id!: string;

  @Field(() => Int, { description: "0: a user's own; its version is its hash." })
  version!: number;

  @Field(() => String, { nullable: true, description: "Of a user's own: what the sha256 of its file begins with." })
  hash!: string | null;

  @Field(() => String)
  title!: string;

  @Field(() => String, { description: 'How much of the formula stands in the authors’ code or text.' })
  status!: string;

  @Field(() => String, { description: 'What its numbers are: advantage, return, reward, weight or keep.' })
  gives!: string;

  @Field(() => [String], { description: 'What carries the credit; more than one where a param decides.' })
  levels!: readonly string[];

  @Field(() => String, {
    description: 'What it computes on: cpu, or tensor, the device of whichever worker takes the shard.',
  })
  device!: string;

  @Field(() => Boolean, { description: 'It depends on what an analysis takes for the same state.' })
  readsStates!: boolean;

  @Field(() => [String], { description: 'Signals without which it says nothing, with its default params.' })
  requires!: readonly string[];

  @Field(() => [String], { description: 'Signals that it uses where they are there.' })
  accepts!: readonly string[];

  @Field(() => Json, { description: 'JSON Schema of its params, with defaults.' })
  params!: unknown;

  @Field(() => Citation)
  citation!: Citation;
}
