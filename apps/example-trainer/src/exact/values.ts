import { commandLogprob, type Evaluated } from '../policy/softmax.js';
import type { StateGraph } from '../world/state-graph.js';

/** The reward of the turn that achieves the task; every other turn has 0. */
export const SUCCESS_REWARD = 1;

/** Exact values of one policy in one world. Rewards are not discounted, so a value is a chance of success. */
export interface ExactValues {
  /** V_h(s): the chance of success from state s with h turns left, under the policy */
  value(state: number, remaining: number): number;
  /** Q_h(s, c): the same after command c */
  commandValue(state: number, command: number, remaining: number): number;
  /** Q − V; its mean under the policy is 0 in every state */
  advantage(state: number, command: number, remaining: number): number;
  /** entropy of the policy over the whole commands of the state, in nats */
  entropy(state: number): number;
}

/**
 * Dynamic programming over (true state, turns left), which the agent cannot see:
 *
 *     V_0(s) = 0      V_h(s) = Σ_c π(c | view of s) · Q_h(s, c)      Q_h(s, c) = r + V_{h−1}(s')
 *
 * r = 1 and the trajectory ends where s' achieves the task. V_h(s) is computed where it can be needed: for h up to the
 * turns that are left when s is reached on the shortest way.
 */
export function exactValues(graph: StateGraph, policy: Evaluated): ExactValues {
  const { world, stateCount, isDone, depth, viewOf, commandOffsets, next } = graph;
  const probabilities = policy.tree.commands.map((commands) =>
    Float64Array.from(commands, (command) => Math.exp(commandLogprob(policy, command))),
  );
  const entropies = policy.tree.commands.map((commands) =>
    commands.reduce(
      (sum, command) => sum - Math.exp(commandLogprob(policy, command)) * commandLogprob(policy, command),
      0,
    ),
  );
  const values = [new Float64Array(stateCount)];
  for (let h = 1; h <= world.stepLimit; h++) {
    const shorter = values[h - 1];
    const current = new Float64Array(stateCount);
    // states are in the order of their depth
    for (let s = 0; s < stateCount && depth[s] <= world.stepLimit - h; s++) {
      const probability = probabilities[viewOf[s]];
      const offset = commandOffsets[s];
      for (let row = offset; row < commandOffsets[s + 1]; row++) {
        current[s] += probability[row - offset] * (isDone[next[row]] ? SUCCESS_REWARD : shorter[next[row]]);
      }
    }
    values.push(current);
  }
  const value = (state: number, remaining: number) => values[remaining][state];
  const commandValue = (state: number, command: number, remaining: number) => {
    const after = next[commandOffsets[state] + command];
    return isDone[after] ? SUCCESS_REWARD : value(after, remaining - 1);
  };
  return {
    value,
    commandValue,
    advantage: (state, command, remaining) => commandValue(state, command, remaining) - value(state, remaining),
    entropy: (state) => entropies[viewOf[state]],
  };
}
