import type { Random } from '#lib/numeric';
import { sketchOf } from '#lib/sdk';
import type { AssignCredit } from './credit-step.js';
import { choicesOf, credited, logTrajectory } from './credited-turns.js';
import type { Learner } from './learner.js';
import type { Mishaps } from './mishaps.js';
import type { RunPort } from './port.js';
import { sampleGroup, type Sampled } from './sample-group.js';
import { metricsOf, type StepMetrics } from './step-metrics.js';
import type { TrainingTask } from './task.js';

export interface StepInput {
  readonly trainingStep: number;
  readonly tasks: readonly TrainingTask[];
  readonly groupSize: number;
  readonly learner: Learner;
  readonly random: Random;
  readonly assign: AssignCredit;
  /** which of the rollouts come to nothing or are rejected; null: all are kept */
  readonly mishaps: Mishaps | null;
  readonly run: RunPort;
  /** lets what waits go on: the sender of the SDK lives in the same process */
  readonly breathe: () => Promise<unknown>;
}

export interface TakenStep {
  readonly metrics: StepMetrics;
  readonly trajectories: number;
  readonly turns: number;
}

/** Rolls out, judges, logs, learns. All rollouts are by one policy; only the end of the step changes it. */
export async function trainingStep(input: StepInput): Promise<TakenStep> {
  const { trainingStep: step, tasks, groupSize, learner, random, assign, mishaps, run, breathe } = input;
  const groups: Sampled[][] = [];
  for (const task of tasks) {
    const group = sampleGroup(task, learner, random, { trainingStep: step, groupSize });
    groups.push(mishaps ? mishaps.of(group) : group);
    await breathe();
  }
  const trajectories = groups.flat();
  const judged = credited(trajectories, assign(trajectories.map(({ record }) => record)));
  for (const [i, trajectory] of judged.entries()) {
    logTrajectory(run, trajectory);
    if (i % groupSize === groupSize - 1) await breathe();
  }
  const update = learner.improve(judged.flatMap(choicesOf));
  learner.fitCritic(trajectories.flatMap(valueExamples));
  const metrics = metricsOf(groups, update);
  // before the step's metrics: with them the step is complete
  run.checkpoint({ trainingStep: step, ...sketchOf({ policy: learner.policy }) });
  run.trainingStep(step, { ...metrics });
  const turns = trajectories.reduce((sum, { steps }) => sum + steps.length, 0);
  return { metrics, trajectories: trajectories.length, turns };
}

/** Only the last turn is rewarded and nothing is discounted, so every turn's return is the outcome. */
function valueExamples({ valueFeatures, record }: Sampled) {
  return valueFeatures.map((features) => ({ features, observedReturn: record.outcomeReward }));
}
