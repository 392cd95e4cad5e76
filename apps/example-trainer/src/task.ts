import type { Random } from '#lib/numeric';
import { wordTree, type WordTree } from './policy/word-tree.js';
import { shuffled } from './random.js';
import { generateTask } from './world/generate.js';
import type { StateGraph } from './world/state-graph.js';
import { TASK_TYPES } from './world/world.js';

/** A task instance with all that is worked out about it once. Its id names the groups of its trajectories. */
export interface TrainingTask {
  readonly graph: StateGraph;
  readonly tree: WordTree;
}

/** Task number n of a run: the types take turns. */
export function trainingTask(random: Random, number: number): TrainingTask {
  const graph = generateTask(random, TASK_TYPES[number % TASK_TYPES.length], number);
  return { graph, tree: wordTree(graph.views) };
}

/**
 * Deals the tasks of one training step after the other: all of them once before any comes again, and never one twice in
 * a step, where its two groups would be one. The types take turns, so that one step is about as hard as another.
 */
export function taskDeck(random: Random, tasks: readonly TrainingTask[]): (count: number) => TrainingTask[] {
  const waiting: TrainingTask[] = [];
  return (count) => {
    while (new Set(waiting).size < count) waiting.push(...shuffledByType(random, tasks));
    const drawn = [...new Set(waiting)].slice(0, count);
    for (const task of drawn) waiting.splice(waiting.indexOf(task), 1);
    return drawn;
  };
}

/** One of each type, then another one of each, until all are dealt. */
function shuffledByType(random: Random, tasks: readonly TrainingTask[]): TrainingTask[] {
  const byType = [...Map.groupBy(shuffled(random, tasks), ({ graph }) => graph.world.task.type).values()];
  const rounds = Math.max(...byType.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) =>
    shuffled(random, byType).flatMap((of) => of.slice(round, round + 1)),
  ).flat();
}
