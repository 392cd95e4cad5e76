import { Field, Float, ObjectType } from '@nestjs/graphql';
import { Position } from '../graphql/scalars.js';

@ObjectType({ description: 'Where the log of a run ends, whether projected yet or not.' })
export class RunLog {
  @Field(() => Position, { description: 'Events in it.' })
  position!: number;

  @Field(() => String, {
    description:
      'sha256 over all batches, each with the one before it: kept elsewhere, it shows later that nothing changed.',
  })
  chainHash!: string;

  @Field(() => Position, { nullable: true, description: 'Payloads before it are gone; null: not erased.' })
  erasedPosition!: number | null;
}

@ObjectType({ description: 'The first place where the log is not what was acknowledged.' })
export class BrokenBatch {
  @Field(() => Position)
  position!: number;

  @Field(() => String, { nullable: true, description: 'null: it is the head of the run that is wrong.' })
  producerId!: string | null;

  @Field(() => Float, { nullable: true })
  sequence!: number | null;

  @Field(() => String, { description: 'position, payload, payload hash, event count, chain hash or head' })
  what!: string;

  @Field(() => String)
  expected!: string;

  @Field(() => String)
  found!: string;
}

@ObjectType({ description: 'A part of the log of a run, every batch held against what was acknowledged.' })
export class VerifiedLog {
  @Field(() => Position)
  from!: number;

  @Field(() => Position, { description: 'Where it ends: what lies between is as it was acknowledged.' })
  position!: number;

  @Field(() => Float)
  batches!: number;

  @Field(() => Float, { description: 'Of NDJSON.' })
  bytes!: number;

  @Field(() => String, { description: 'Over the whole log up to there.' })
  chainHash!: string;

  @Field(() => Boolean, { description: 'It ends at the head of the run, and the head is right.' })
  isWhole!: boolean;

  @Field(() => BrokenBatch, { nullable: true })
  broken!: BrokenBatch | null;
}
