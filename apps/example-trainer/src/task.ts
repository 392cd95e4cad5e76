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
 * Deals tasks for ever: all of them once, then all of them again in another order. The types take turns here too, so
 * that one training step is about as hard as another.
 */
export function* dealTasks(random: Random, tasks: readonly TrainingTask[]): Generator<TrainingTask, never> {
  for (;;) {
    const byType = [...Map.groupBy(shuffled(random, tasks), ({ graph }) => graph.world.task.type).values()];
    const rounds = Math.max(...byType.map(({ length }) => length));
    for (let round = 0; round < rounds; round++) {
      for (const sameType of shuffled(random, byType)) if (sameType[round]) yield sameType[round];
    }
  }
}
