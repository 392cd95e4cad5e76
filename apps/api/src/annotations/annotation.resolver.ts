import { Inject } from '@nestjs/common';
import { Args, Context, Field, ID, InputType, Int, Mutation, ObjectType, Resolver } from '@nestjs/graphql';
import { assertNotErased, findRun } from '#lib/access';
import { appendOwn } from '#lib/event-log';
import { RecreditError } from '#lib/kernel';
import { eventIssue, type RunEvent } from '#lib/protocol';
import type { RequestContext } from '../graphql/request-context.js';
import { Needs } from '../graphql/role.guard.js';
import { Json, Position } from '../graphql/scalars.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { trajectoryById } from '../trajectories/trajectory.reader.js';
import { annotateAll, MAX_ANNOTATIONS } from './annotate-all.js';

@InputType({ description: 'Signals that somebody gives to a trajectory or one of its turns, after the fact.' })
class AnnotateInput {
  @Field(() => ID, { description: 'Id, or name among the runs the caller sees.' })
  run!: string;

  @Field(() => ID)
  trajectory!: string;

  @Field(() => Int, { nullable: true, description: 'Not said: the trajectory itself.' })
  turn?: number | null;

  @Field(() => String, { description: 'Who says so: a person, a model.' })
  annotator!: string;

  @Field(() => Int, { nullable: true })
  attempt?: number | null;

  @Field(() => Json, { description: 'An object, by signal name.' })
  signals!: unknown;
}

@InputType()
class SaidInput {
  @Field(() => ID)
  trajectory!: string;

  @Field(() => Int, { nullable: true, description: 'Not said: the trajectory itself.' })
  turn?: number | null;

  @Field(() => Json, { description: 'An object, by signal name.' })
  signals!: unknown;
}

@InputType({ description: 'What one annotator says of many turns and trajectories of a run.' })
class AnnotateAllInput {
  @Field(() => ID, { description: 'Id, or name among the runs the caller sees.' })
  run!: string;

  @Field(() => String, { description: 'Who says so: a person, a model.' })
  annotator!: string;

  @Field(() => [SaidInput], { description: `Up to ${MAX_ANNOTATIONS}.` })
  annotations!: SaidInput[];

  @Field(() => Boolean, { nullable: true, description: 'Checks them and records nothing.' })
  checkOnly?: boolean | null;
}

@ObjectType()
class RecordedAnnotations {
  @Field(() => Int)
  recorded!: number;

  @Field(() => Int, { description: 'What the annotator was the last to say already; it is not recorded again.' })
  unchanged!: number;
}

@Resolver()
export class AnnotationResolver {
  constructor(@Inject(PORTS) private readonly ports: ApiPorts) {}

  @Mutation(() => Position, { description: 'Appends an annotation; every one is kept. Its position is the answer.' })
  @Needs('analyze')
  async annotate(
    @Args('input', { type: () => AnnotateInput }) input: AnnotateInput,
    @Context() { db }: RequestContext,
  ): Promise<number> {
    const run = await findRun(db, input.run);
    assertNotErased(run);
    const event = annotationEvent(input);
    const trajectory = await trajectoryById(db, run.id, input.trajectory);
    if (!trajectory)
      throw new RecreditError('trajectory.unknown', `run ${run.name} has no trajectory ${input.trajectory}`);
    if (input.turn != null && input.turn >= trajectory.turnCount) {
      throw new RecreditError(
        'request.invalid',
        `turn: 0 to ${trajectory.turnCount - 1} was wanted, found ${input.turn}`,
      );
    }
    const [position] = await appendOwn(this.ports.platform, run.id, [event]);
    return position;
  }

  @Mutation(() => RecordedAnnotations, { description: 'Appends annotations, all of them or none.' })
  @Needs('analyze')
  annotateAll(
    @Args('input', { type: () => AnnotateAllInput }) input: AnnotateAllInput,
    @Context() { db }: RequestContext,
  ): Promise<RecordedAnnotations> {
    return annotateAll(db, this.ports.platform, input);
  }
}

function annotationEvent({ trajectory, turn, annotator, attempt, signals }: AnnotateInput): RunEvent {
  const event = {
    type: 'annotation.recorded',
    at: new Date().toISOString(),
    trajectory,
    annotator,
    ...(attempt != null && { attempt }),
    ...(turn == null ? { signals } : { turns: [{ turn, signals }] }),
  };
  const issue = eventIssue('annotation.recorded', event);
  if (issue) {
    throw new RecreditError('request.invalid', `${issue.pointer}: expected ${issue.expected}, found ${issue.found}`, {
      ...issue,
    });
  }
  return event as RunEvent;
}
