import { z } from 'zod';
import { defineDiagnostic, MAX_EVIDENCE } from '../diagnostic.js';
import { mean } from '../groups.js';
import { agreeing, count, counted, figure, percent } from '../sentences.js';
import { keptTallies, talliesOf, type TaskTally } from '../task-tallies.js';

export interface ForgettingOptions {
  /** of the moving average: how much the newest step counts */
  readonly smoothing: number;
  /** a task counts as learned once its best reached this */
  readonly learnedAt: number;
  /** a learned task counts as forgotten from this drop on */
  readonly alertDrop: number;
}

/** One task: its best and its present moving average of success. */
export interface TaskMemory {
  readonly task: string;
  readonly best: number;
  readonly bestStep: number;
  readonly now: number;
  readonly forgetting: number;
  readonly learned: boolean;
}

/** What was tried in one training step. */
export interface TalliedStep {
  readonly trainingStep: number;
  readonly tallies: readonly TaskTally[];
}

/** Rounding of a moving average is no drop. */
const NO_DROP = 1e-12;

/**
 * Whether tasks that were solved are solved no more.
 *
 *     m_s = smoothing · q_s + (1 − smoothing) · m_{s−1}    q_s: success rate; only steps that sampled the task
 *     forgetting = max_s m_s − m now                       learned: max_s m_s ≥ learnedAt
 *     meanForgetting       over learned tasks
 *     forgottenTasks       learned tasks with forgetting ≥ alertDrop
 *
 * Source: the forgetting measure of continual learning; limits ours.
 *
 * @param steps in ascending order
 */
export function taskForgetting(steps: readonly TalliedStep[], options: ForgettingOptions) {
  const memory = memories(options);
  for (const step of steps) memory.add(step);
  return memory.summary();
}

/** The fold behind it, so that every step's values cost one pass. */
function memories({ smoothing, learnedAt, alertDrop }: ForgettingOptions) {
  const byTask = new Map<string, TaskMemory>();
  return {
    add({ trainingStep, tallies }: TalliedStep) {
      for (const { task, successes, attempts } of tallies) {
        const known = byTask.get(task);
        const rate = successes / attempts;
        const now = known ? smoothing * rate + (1 - smoothing) * known.now : rate;
        const isBest = !known || now > known.best;
        const best = isBest ? now : known.best;
        const forgetting = best - now;
        const bestStep = isBest ? trainingStep : known.bestStep;
        byTask.set(task, { task, best, bestStep, now, forgetting, learned: best >= learnedAt });
      }
    },
    summary() {
      const tasks = [...byTask.values()];
      const learned = tasks.filter((task) => task.learned);
      return {
        tasks,
        learnedTasks: learned.length,
        meanForgetting: mean(learned.map(({ forgetting }) => forgetting)),
        forgottenTasks: learned.filter(({ forgetting }) => forgetting >= alertDrop - NO_DROP).length,
      };
    },
  };
}

export const taskForgettingDiagnostic = defineDiagnostic({
  id: 'task-forgetting',
  version: 2,
  title: 'Forgotten tasks',
  question: 'Are tasks unlearned that were solved before?',
  remedy: 'Mix forgotten tasks back in (replay, data mixing), or slow the updates down.',
  headline: 'forgottenShare',
  level: 'task',
  status: 'own',
  source: 'forgetting measure of continual learning; after IDER, OER and Data Mixing Agent; limits ours',
  requires: ['trajectory.outcomeReward'],
  accepts: ['trajectory.success'],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    smoothing: z.number().gt(0).max(1).default(0.3).describe('how much the newest step counts in a task’s average'),
    learnedAt: z.number().min(0).max(1).default(0.5).describe('success from which a task counts as learned'),
    alertDrop: z.number().min(0).max(1).default(0.3).describe('drop from which a learned task is forgotten'),
    forgotten: z.number().min(0).max(1).default(0.05).describe('share of forgotten among learned tasks: a warning'),
  }),

  measure: ({ trajectories }) => keptTallies(trajectories),

  read(steps, thresholds) {
    const memory = memories(thresholds);
    const bySteps = steps.map(({ trainingStep, figures }) => {
      memory.add({ trainingStep, tallies: talliesOf(figures) });
      const { learnedTasks, meanForgetting, forgottenTasks } = memory.summary();
      const forgottenShare = learnedTasks > 0 ? forgottenTasks / learnedTasks : null;
      return {
        trainingStep,
        values: { forgottenShare, forgottenTasks, learnedTasks, meanForgetting },
        observations: learnedTasks,
      };
    });
    const { values } = bySteps.at(-1)!;
    const { learnedTasks, forgottenTasks, meanForgetting } = values;
    const worst = memory
      .summary()
      .tasks.filter(({ learned, forgetting }) => learned && forgetting >= thresholds.alertDrop - NO_DROP)
      .sort((a, b) => b.forgetting - a.forgetting);
    return {
      values,
      reasons: learnedTasks === 0 ? { forgottenShare: 'no task is learned yet', meanForgetting: 'no task is learned yet' } : {}, // prettier-ignore
      sentence:
        learnedTasks === 0
          ? 'no task was ever solved often enough to be forgotten'
          : `${count(forgottenTasks)} of ${counted(learnedTasks, 'learned task')} ${agreeing(forgottenTasks, learnedTasks, 'is', 'are')} forgotten; a learned task lost ${figure(meanForgetting!)} on average`,
      steps: bySteps,
      evidence: worst.slice(0, MAX_EVIDENCE).map(({ task, best, bestStep, now }) => ({
        trainingStep: bestStep,
        group: task,
        note: `success was ${percent(best)} here and is ${percent(now)} now`,
      })),
      detail: { tasks: worst },
    };
  },

  rules: ({ forgotten }) => [
    {
      id: 'forgetting',
      level: 'warn',
      all: [{ value: 'forgottenShare', op: '>', limit: forgotten }],
      says: `more than ${percent(forgotten)} of the learned tasks are forgotten`,
    },
  ],
});
