import { setImmediate as breathe } from 'node:timers/promises';
import { RecreditError } from '#lib/kernel';
import { seededRandom, type Random } from '#lib/numeric';
import { findEstimator } from '#lib/credit';
import { creditBy, type AssignCredit } from './credit-step.js';
import { learner } from './learner.js';
import { mishaps } from './mishaps.js';
import { faultNamed, planted } from './plant.js';
import type { RunPort } from './port.js';
import { taskDeck, trainingTask, type TrainingTask } from './task.js';
import type { StepMetrics } from './step-metrics.js';
import { trainingStep } from './training-step.js';

export interface TrainingOptions {
  readonly seed: number;
  readonly steps: number;
  readonly groupsPerStep: number;
  readonly groupSize: number;
  /** any id of the library's catalogue, with its params */
  readonly estimator: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** task instances of the run; each is drawn again and again */
  readonly taskCount: number;
  readonly learningRate: number;
  /** how much a nat of entropy is worth, in advantage */
  readonly entropyWeight: number;
  /** shares of the rollouts that are lost, so that groups differ in size, and that are rejected (signal `excluded`) */
  readonly lost: number;
  readonly rejected: number;
  /** a mistake in the advantages, for an audit to find; null: none. Needs an outcome estimator */
  readonly plant: string | null;
}

export const TRAINING_DEFAULTS: TrainingOptions = {
  seed: 1,
  steps: 40,
  groupsPerStep: 12,
  groupSize: 8,
  estimator: 'gigpo',
  params: {},
  taskCount: 32,
  learningRate: 0.06,
  entropyWeight: 0.02,
  lost: 0,
  rejected: 0,
  plant: null,
};

export interface TrainingProgress {
  readonly trainingStep: number;
  /** of how many */
  readonly steps: number;
  readonly metrics: StepMetrics;
  /** so far, this step included */
  readonly trajectories: number;
  readonly turns: number;
}

/** One point per training step. */
export type TrainingCurve = readonly TrainingProgress[];

export interface TrainingPorts {
  readonly run: RunPort;
  readonly onStep?: (progress: TrainingProgress) => void;
}

/**
 * Trains the agent from nothing by policy gradient, and logs all that it does to the run. It lets other work of the
 * process go on between groups. The same options give the same events, but for their times.
 */
export async function train({
  run,
  onStep,
  ...choices
}: TrainingPorts & Partial<TrainingOptions>): Promise<TrainingCurve> {
  const options = { ...TRAINING_DEFAULTS, ...choices };
  const { steps, groupSize, groupsPerStep, taskCount } = options;
  if (groupsPerStep > taskCount) {
    throw new RecreditError(
      'params.invalid',
      `${groupsPerStep} groups per step need as many tasks; taskCount is ${taskCount}`,
    );
  }
  const assign = creditWithFault(options);
  const random = seededRandom(options.seed);
  const deal = taskDeck(random, await trainingTasks(random, taskCount));
  const agent = learner(options);
  const hasMishaps = options.lost > 0 || options.rejected > 0;
  const mishap = hasMishaps ? mishaps(seededRandom(`${options.seed}/mishaps`), options) : null;
  const curve: TrainingProgress[] = [];
  let [trajectories, turns] = [0, 0];
  for (let step = 0; step < steps; step++) {
    const tasks = deal(groupsPerStep);
    const taken = await trainingStep({
      trainingStep: step,
      tasks,
      groupSize,
      learner: agent,
      random,
      assign,
      mishaps: mishap,
      run,
      breathe,
    });
    trajectories += taken.trajectories;
    turns += taken.turns;
    const progress = { trainingStep: step, steps, metrics: taken.metrics, trajectories, turns };
    curve.push(progress);
    onStep?.(progress);
  }
  return curve;
}

/** What is wrong with the estimator, its params or the fault is said here, before any rollout. */
function creditWithFault({ estimator, params, plant, seed }: TrainingOptions): AssignCredit {
  const assign = creditBy(estimator, params);
  if (plant === null) return assign;
  if (findEstimator(estimator).levels.some((level) => level !== 'trajectory')) {
    throw new RecreditError(
      'params.invalid',
      `a fault is planted in an outcome credit, such as grpo's, not in ${estimator}`,
    );
  }
  return planted(assign, faultNamed(plant), seededRandom(`${seed}/fault`));
}

async function trainingTasks(random: Random, count: number): Promise<TrainingTask[]> {
  const tasks: TrainingTask[] = [];
  while (tasks.length < count) {
    tasks.push(trainingTask(random, tasks.length));
    await breathe();
  }
  return tasks;
}
