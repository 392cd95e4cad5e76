import type { Random } from '#lib/numeric';
import { drawWorld } from './draw-world.js';
import { shortestSolution, stateGraph, type StateGraph } from './state-graph.js';
import type { TaskType } from './world.js';

export interface Difficulty {
  readonly stepLimit: number;
  /** bounds the exact values' cost */
  readonly maxStates: number;
  readonly distractors: number;
  /** turns that a task must need at least */
  readonly minTurns: number;
  /** turns that must be left over when the shortest way is taken */
  readonly slack: number;
}

export const DIFFICULTY: Difficulty = { stepLimit: 20, maxStates: 4_000, distractors: 2, minTurns: 3, slack: 12 };

/** A house with a task that can be achieved, with all its states. Draws again until the difficulty is met. */
export function generateTask(random: Random, type: TaskType, number: number, difficulty = DIFFICULTY): StateGraph {
  for (;;) {
    const world = drawWorld(random, { type, number, ...difficulty });
    const graph = world && stateGraph(world, difficulty.maxStates);
    const turns = graph && shortestSolution(graph);
    if (turns && turns >= difficulty.minTurns && turns <= difficulty.stepLimit - difficulty.slack) return graph;
  }
}
