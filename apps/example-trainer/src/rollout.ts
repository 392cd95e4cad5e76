import type { Random } from '#lib/numeric';
import { commandProbabilities, type Evaluated } from './policy/softmax.js';
import { draw } from './random.js';
import type { StateGraph } from './world/state-graph.js';

/** What happened in one turn, as rows of the state graph. */
export interface Step {
  readonly state: number;
  readonly command: number;
  /** turns left, this one included */
  readonly remaining: number;
  readonly achieved: boolean;
}

/** Acts from the start until the task is achieved or the step limit is reached. */
export function rollout(
  { world, viewOf, isDone, commandOffsets, next }: StateGraph,
  policy: Evaluated,
  random: Random,
) {
  const steps: Step[] = [];
  let state = 0;
  for (let remaining = world.stepLimit; remaining > 0 && !isDone[state]; remaining--) {
    const command = draw(random, commandProbabilities(policy, viewOf[state]));
    const after = next[commandOffsets[state] + command];
    steps.push({ state, command, remaining, achieved: isDone[after] === 1 });
    state = after;
  }
  return steps;
}
