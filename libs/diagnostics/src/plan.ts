import { z } from 'zod';
import { BANDS, type Band } from './catalogue/difficulty-bands.js';
import { mixedOutcomes, spendGreedily } from './trace-allocation.js';
import { runHealth, type HealthInput, type RunHealth } from './run-health.js';

/** What the readings keep in their details; what an older version kept otherwise is not planned with. */
const Task = z.object({
  task: z.string(),
  attempts: z.number(),
  successes: z.number(),
  band: z.enum(BANDS),
  posteriorMean: z.number(),
  learnability: z.number(),
  mixedProbability: z.number(),
  needsHint: z.boolean(),
});
const Share = z.object({
  task: z.string(),
  attempts: z.number(),
  successes: z.number(),
  predicted: z.number(),
  lastRollouts: z.number(),
  rollouts: z.number(),
  mixed: z.number(),
});
const Restart = z.object({
  trainingStep: z.number(),
  task: z.string(),
  trajectory: z.string(),
  prefixTurns: z.number(),
  success: z.number(),
  continuations: z.number(),
  score: z.number(),
  reason: z.string(),
});
const Failure = z.object({
  representative: z.string(),
  trainingStep: z.number(),
  size: z.number(),
  share: z.number(),
  tasks: z.array(z.string()),
  fault: z.enum(['agent', 'task']).nullable(),
});

export type PlannedTask = z.infer<typeof Task>;
export type PlannedShare = z.infer<typeof Share>;
export type PlannedRestart = z.infer<typeof Restart>;
export type PlannedFailure = z.infer<typeof Failure>;

/** A task whose groups carry no signal. */
export interface DroppedTask {
  readonly task: string;
  readonly attempts: number;
  readonly why: 'solved' | 'unsolved';
  /** what to do with it instead, in a few words */
  readonly advice: string;
}

/** A place to start rollouts from, and how many of them. */
export interface PlannedStart {
  readonly task: string;
  /** whose first turns are to be replayed; null: from the prompt */
  readonly trajectory: string | null;
  /** 0: from the prompt */
  readonly prefixTurns: number;
  /** chance of success that the advice rests on */
  readonly predicted: number;
  readonly rollouts: number;
  /** chance that they end both ways */
  readonly mixed: number;
}

/** Where the next rollouts of a run would best be spent: advice, nothing is done by it. */
export interface Plan {
  readonly health: RunHealth;
  /** every band, also where it is empty; inside a band by learnability */
  readonly bands: readonly { readonly band: Band; readonly tasks: readonly PlannedTask[] }[];
  /** null: the last training step had no two rollouts to spend */
  readonly budget: {
    readonly rollouts: number;
    /** if they start from prompts alone */
    readonly shares: readonly PlannedShare[];
    /** the same number of them across prompts and prefixes, most rollouts first: all that get any */
    readonly starts: readonly PlannedStart[];
  } | null;
  /** best first */
  readonly restarts: readonly PlannedRestart[];
  readonly drop: readonly DroppedTask[];
  /** failures that do the same, the commonest first */
  readonly failures: readonly PlannedFailure[];
}

/** Attempts at a task below which none of them tells enough to drop it. */
const LEAST_ATTEMPTS = 8;

/**
 * What the readings of a run advise for its next rollouts.
 *
 * @param readings of difficulty-bands, rollout-budget, restart-candidates and failure-clusters; all others for the health
 */
export function planOf(readings: readonly HealthInput[]): Plan {
  const listed = <Item>(id: string, name: string, item: z.ZodType<Item>): Item[] => {
    const detail = readings.find((reading) => reading.id === id)?.detail;
    const found = z.looseObject({ [name]: z.array(item) }).safeParse(detail);
    return found.success ? found.data[name] : [];
  };
  const tasks = listed('difficulty-bands', 'tasks', Task);
  const shares = listed('rollout-budget', 'tasks', Share);
  const restarts = listed('restart-candidates', 'candidates', Restart);
  return {
    health: runHealth(readings),
    bands: BANDS.map((band) => ({ band, tasks: tasks.filter((task) => task.band === band) })),
    budget: shares.some(({ rollouts }) => rollouts > 0) ? { ...spentOn(shares, restarts), shares } : null,
    restarts,
    drop: tasks.flatMap(dropped),
    failures: listed('failure-clusters', 'clusters', Failure),
  };
}

/**
 * The rollouts of the advice, spent anew where prefixes may be started from too (TRACE, as `spendGreedily`): a start gets
 * rollouts while they most likely bring both outcomes. Of equal ones the prompt has it, which needs no replay.
 */
function spentOn(shares: readonly PlannedShare[], restarts: readonly PlannedRestart[]) {
  const places = [
    ...shares.map(({ task, predicted }) => ({ task, trajectory: null, prefixTurns: 0, predicted })),
    ...restarts.map(({ task, trajectory, prefixTurns, success }) => ({
      task,
      trajectory,
      prefixTurns,
      predicted: success,
    })),
  ];
  const budget = shares.reduce((sum, { rollouts }) => sum + rollouts, 0);
  const spent = spendGreedily(
    places.map(({ predicted }) => predicted),
    budget,
    Infinity,
  );
  const starts = places.map((place, i) => ({
    ...place,
    rollouts: spent[i],
    mixed: mixedOutcomes(place.predicted, spent[i]),
  }));
  return {
    rollouts: budget,
    starts: starts.filter(({ rollouts }) => rollouts > 0).toSorted((a, b) => b.rollouts - a.rollouts),
  };
}

function dropped({ task, attempts, band, needsHint }: PlannedTask): DroppedTask[] {
  if (attempts < LEAST_ATTEMPTS || (band !== 'solved' && band !== 'unsolved')) return [];
  const advice = band === 'solved' ? 'retire it' : needsHint ? 'give a hint or a prefix' : 'larger groups';
  return [{ task, attempts, why: band, advice }];
}
