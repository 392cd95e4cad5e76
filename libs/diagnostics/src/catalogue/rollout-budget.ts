import { z } from 'zod';
import { defineDiagnostic, MAX_EVIDENCE } from '../diagnostic.js';
import { count, counted, figure } from '../sentences.js';
import { mixedOutcomes, spendGreedily } from '../trace-allocation.js';
import { keptTallies, mergeTallies, talliesOf } from '../task-tallies.js';

/** A prompt or a prefix that rollouts can start from. */
export interface BudgetAnchor {
  readonly id: string;
  /** how often it was tried, and how often it succeeded */
  readonly attempts: number;
  readonly successes: number;
  /** rollouts that were really spent on it, of the budget that is looked at */
  readonly rollouts: number;
}

export interface BudgetOptions {
  /** of the beta prior */
  readonly priorA: number;
  readonly priorB: number;
  readonly budget: number;
  readonly maxPerAnchor?: number | undefined;
}

/**
 * How a budget of rollouts is spent where it most likely brings both outcomes.
 *
 *     predicted      (successes + a) / (attempts + a + b)
 *     allocation     greedy, see `spendGreedily`
 *     expectedMixed  Σ M(p, rollouts)      actualExpectedMixed: with what was really spent      regret: their difference
 *
 * Source: RECONSTRUCTED as TRACE (arXiv:2606.11119).
 */
export function rolloutBudget(anchors: readonly BudgetAnchor[], options: BudgetOptions) {
  const { priorA, priorB, budget, maxPerAnchor = Infinity } = options;
  const predicted = anchors.map(({ attempts, successes }) => (successes + priorA) / (attempts + priorA + priorB));
  const allocation = spendGreedily(predicted, budget, maxPerAnchor);
  const mixed = (rollouts: (a: number) => number) =>
    predicted.reduce((sum, p, a) => sum + mixedOutcomes(p, rollouts(a)), 0);
  const expectedMixed = mixed((a) => allocation[a]);
  const actualExpectedMixed = mixed((a) => anchors[a].rollouts);
  return {
    predicted,
    allocation,
    spent: allocation.reduce((sum, rollouts) => sum + rollouts, 0),
    expectedMixed,
    actualExpectedMixed,
    regret: expectedMixed - actualExpectedMixed,
  };
}

export const rolloutBudgetDiagnostic = defineDiagnostic({
  id: 'rollout-budget',
  version: 2,
  title: 'Where the next rollouts pay',
  question: 'On which tasks would the next rollouts bring both successes and failures?',
  remedy:
    'Spend the next rollouts as the plan says: more on uncertain tasks, none on those that are surely solved or lost.',
  headline: 'gain',
  level: 'task',
  status: 'reconstructed',
  source: 'as TRACE, arXiv:2606.11119: its predictor and objective are not public',
  requires: ['trajectory.outcomeReward'],
  accepts: ['trajectory.success'],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    window: z.int().min(1).default(20).describe('last training steps whose attempts count'),
    priorA: z.number().positive().default(1).describe('of the beta prior on success'),
    priorB: z.number().positive().default(1).describe('of the beta prior on failure'),
    budget: z
      .int()
      .min(2)
      .max(100_000)
      .nullable()
      .default(null)
      .describe('rollouts to spend; null: as many as the last training step had'),
    maxPerTask: z.int().min(2).nullable().default(null).describe('rollouts that one task gets at most; null: any'),
  }),

  measure: ({ trajectories }) => keptTallies(trajectories),

  read(steps, { window, priorA, priorB, budget, maxPerTask }) {
    const known = mergeTallies(steps.slice(-window).flatMap(({ figures }) => talliesOf(figures)));
    const last = new Map(steps.at(-1)!.figures.map(([task, attempts]) => [task, attempts]));
    const spent = [...last.values()].reduce((sum, attempts) => sum + attempts, 0);
    const anchors = known.map(({ task, attempts, successes }) => ({ id: task, attempts, successes, rollouts: last.get(task) ?? 0 })); // prettier-ignore
    const plan = rolloutBudget(anchors, {
      priorA,
      priorB,
      budget: budget ?? spent,
      maxPerAnchor: maxPerTask ?? undefined,
    });
    const tasks = anchors
      .map(({ id, attempts, successes, rollouts }, a) => ({
        task: id,
        attempts,
        successes,
        predicted: plan.predicted[a],
        lastRollouts: rollouts,
        rollouts: plan.allocation[a],
        mixed: mixedOutcomes(plan.predicted[a], plan.allocation[a]),
      }))
      .sort((a, b) => b.rollouts - a.rollouts || Math.abs(a.predicted - 0.5) - Math.abs(b.predicted - 0.5));
    return {
      values: {
        gain: plan.regret,
        expectedMixed: plan.expectedMixed,
        actualExpectedMixed: plan.actualExpectedMixed,
        budget: budget ?? spent,
        tasks: tasks.length,
      },
      reasons: {},
      sentence: `${counted(budget ?? spent, 'rollout')} would bring both outcomes on ${counted(plan.expectedMixed, 'task')} if spent by what is known; as the last training step spent its ${count(spent)}, on ${figure(plan.actualExpectedMixed)}`,
      steps: steps.map(({ trainingStep, figures }) => ({
        trainingStep,
        values: { rollouts: figures.reduce((sum, [, attempts]) => sum + attempts, 0), tasks: figures.length },
        observations: figures.length,
      })),
      evidence: tasks.slice(0, MAX_EVIDENCE).map(({ task, rollouts, attempts, successes }) => ({
        trainingStep: steps.at(-1)!.trainingStep,
        group: task,
        note: `${counted(rollouts, 'rollout')}: ${count(successes)} of ${count(attempts)} succeeded so far`,
      })),
      detail: { budget: budget ?? spent, tasks },
    };
  },

  rules: () => [],
});
