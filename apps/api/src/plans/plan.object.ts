import { Field, Float, Int, ObjectType, registerEnumType } from '@nestjs/graphql';
import { AlertLevel } from '../diagnostics/diagnostic.object.js';
import { Json, Position } from '../graphql/scalars.js';

export enum Band {
  UNSOLVED = 'unsolved',
  HARD = 'hard',
  FRONTIER = 'frontier',
  EASY = 'easy',
  SOLVED = 'solved',
}
registerEnumType(Band, {
  name: 'Band',
  description: 'How hard a task is, by the share of its rollouts that solve it.',
});

export enum Fault {
  AGENT = 'agent',
  TASK = 'task',
}
registerEnumType(Fault, { name: 'Fault', description: 'Whose a way to fail is.' });

@ObjectType({ description: 'One thing that is wrong with a run.' })
export class HealthLine {
  @Field(() => AlertLevel)
  level!: AlertLevel;

  @Field(() => String)
  diagnostic!: string;

  @Field(() => String)
  rule!: string;

  @Field(() => String, { description: 'What it means, with its threshold.' })
  says!: string;

  @Field(() => Json, { description: 'The values that opened the alert.' })
  saw!: unknown;

  @Field(() => Int, { description: 'The training step since which it holds.' })
  since!: number;

  @Field(() => String, { description: 'What usually helps.' })
  remedy!: string;
}

@ObjectType()
export class PlannedTask {
  @Field(() => String, { description: 'The name of its groups.' })
  task!: string;

  @Field(() => Int)
  attempts!: number;

  @Field(() => Int)
  successes!: number;

  @Field(() => Float, { description: 'Chance of success, smoothed by a prior.' })
  posteriorMean!: number;

  @Field(() => Float, { description: 'q (1 − q) of the share q of its rollouts that solve it.' })
  learnability!: number;

  @Field(() => Float, { description: 'Chance that its next group ends both ways.' })
  mixedProbability!: number;

  @Field(() => Boolean, { description: 'No reward of its latest group is above 0.' })
  needsHint!: boolean;
}

@ObjectType()
export class PlannedBand {
  @Field(() => Band)
  band!: Band;

  @Field(() => [PlannedTask], { description: 'The most learnable first.' })
  tasks!: readonly PlannedTask[];
}

@ObjectType()
export class PlannedShare {
  @Field(() => String)
  task!: string;

  @Field(() => Int)
  attempts!: number;

  @Field(() => Int)
  successes!: number;

  @Field(() => Float, { description: 'Chance of success that the advice rests on.' })
  predicted!: number;

  @Field(() => Int, { description: 'What the last training step spent on it.' })
  lastRollouts!: number;

  @Field(() => Int, { description: 'What it should get.' })
  rollouts!: number;

  @Field(() => Float, { description: 'Chance that they end both ways.' })
  mixed!: number;
}

@ObjectType({ description: 'A place to start rollouts from, and how many of them.' })
export class PlannedStart {
  @Field(() => String)
  task!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Whose first turns are to be replayed; null: from the prompt.',
  })
  trajectory!: string | null;

  @Field(() => Int, { description: 'How many turns to replay; 0: from the prompt.' })
  prefixTurns!: number;

  @Field(() => Float, { description: 'Chance of success that the advice rests on.' })
  predicted!: number;

  @Field(() => Int)
  rollouts!: number;

  @Field(() => Float, { description: 'Chance that they end both ways.' })
  mixed!: number;
}

@ObjectType()
export class PlannedBudget {
  @Field(() => Int)
  rollouts!: number;

  @Field(() => [PlannedShare], { description: 'If they start from prompts alone. Most rollouts first.' })
  shares!: readonly PlannedShare[];

  @Field(() => [PlannedStart], {
    description: 'The same number of them across prompts and prefixes: all that get any, most rollouts first.',
  })
  starts!: readonly PlannedStart[];
}

@ObjectType({ description: 'A visited state worth returning to.' })
export class PlannedRestart {
  run!: string;

  @Field(() => String)
  task!: string;

  @Field(() => Int)
  trainingStep!: number;

  @Field(() => String, { description: 'Whose first turns are to be replayed.' })
  trajectory!: string;

  @Field(() => Int, { description: 'How many of them.' })
  prefixTurns!: number;

  @Field(() => Float, { description: 'Chance of success from there, smoothed by a prior.' })
  success!: number;

  @Field(() => Int, { description: 'Rollouts that it rests on.' })
  continuations!: number;

  @Field(() => Float)
  score!: number;

  @Field(() => String)
  reason!: string;
}

@ObjectType({ description: 'A task whose groups carry no signal.' })
export class DroppedTask {
  @Field(() => String)
  task!: string;

  @Field(() => Int)
  attempts!: number;

  @Field(() => Band, { description: 'SOLVED or UNSOLVED.' })
  why!: Band;

  @Field(() => String, { description: 'What to do with it instead.' })
  advice!: string;
}

@ObjectType({ description: 'Failures that do the same.' })
export class PlannedFailure {
  @Field(() => String, { description: 'A trajectory that shows it.' })
  representative!: string;

  @Field(() => Int)
  trainingStep!: number;

  @Field(() => Int)
  size!: number;

  @Field(() => Float, { description: 'Of the failures of the last training steps.' })
  share!: number;

  @Field(() => [String], { description: 'At most 20.' })
  tasks!: readonly string[];

  @Field(() => Fault, { nullable: true, description: 'null: it cannot be told.' })
  fault!: Fault | null;
}

@ObjectType({ description: 'Where the next rollouts of a run would best be spent: advice, nothing is done by it.' })
export class Plan {
  @Field(() => Position, {
    nullable: true,
    description: 'It rests on events before this position; null: nothing is measured yet.',
  })
  asOf!: number | null;

  @Field(() => Int, { description: 'Training steps that are not measured yet.' })
  pendingSteps!: number;

  @Field(() => [HealthLine], { description: 'Worst first: open warnings and critical alerts.' })
  health!: readonly HealthLine[];

  @Field(() => [String], { description: 'Why the score does not rise any more, the likeliest first; none: it rises.' })
  plateauCauses!: readonly string[];

  @Field(() => [PlannedBand], { description: 'Tasks by difficulty.' })
  bands!: readonly PlannedBand[];

  @Field(() => PlannedBudget, {
    nullable: true,
    description: 'null: the last training step had no two rollouts to spend.',
  })
  budget!: PlannedBudget | null;

  @Field(() => [PlannedRestart], { description: 'Best first.' })
  restarts!: readonly PlannedRestart[];

  @Field(() => [DroppedTask], { description: 'Tasks to drop: all rollouts solve them, or none.' })
  drop!: readonly DroppedTask[];

  @Field(() => [PlannedFailure], { description: 'The commonest first.' })
  failures!: readonly PlannedFailure[];
}
