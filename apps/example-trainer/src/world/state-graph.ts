import { admissibleCommands, type Admissible } from './commands.js';
import { applyCommand } from './dynamics.js';
import { describe, sceneOf, type Scene } from './scene.js';
import type { State, World } from './world.js';

/** A scene that some state of the world shows, with what it admits. */
export interface View {
  readonly text: string;
  readonly scene: Scene;
  readonly commands: readonly Admissible[];
}

/**
 * All states that can be reached within the step limit, and where each command leads. Command c of state s is the row
 * `commandOffsets[s] + c`. State 0 is the start.
 */
export interface StateGraph {
  readonly world: World;
  readonly stateCount: number;
  /** what can be told apart by looking */
  readonly views: readonly View[];
  /** [states] */
  readonly viewOf: Int32Array;
  /** [states] fewest turns from the start; with `stepLimit` of them the trajectory is at its end */
  readonly depth: Int32Array;
  /** [states] 1 where the task is achieved: such a state ends the trajectory and has no commands */
  readonly isDone: Uint8Array;
  /** [states + 1] */
  readonly commandOffsets: Int32Array;
  /** [rows] the state after the command */
  readonly next: Int32Array;
}

/** Explores breadth first, or answers null when there are more than `maxStates` states. */
export function stateGraph(world: World, maxStates = Infinity): StateGraph | null {
  const states: State[] = [world.start];
  const depth = [0];
  const rowOf = new Map([[keyOf(world.start), 0]]);
  const views: View[] = [];
  const viewRow = new Map<string, number>();
  const viewOf: number[] = [];
  const commandOffsets = [0];
  const next: number[] = [];

  for (let s = 0; s < states.length; s++) {
    const state = states[s];
    const view = viewAt(state);
    viewOf.push(view);
    // a state at the step limit is only ever an end, so its commands lead nowhere that has to be known
    const commands = state.done || depth[s] >= world.stepLimit ? [] : views[view].commands;
    for (const { command } of commands) next.push(rowAt(applyCommand(world, state, command), depth[s] + 1));
    commandOffsets.push(next.length);
    if (states.length > maxStates) return null;
  }
  return {
    world,
    stateCount: states.length,
    views,
    viewOf: Int32Array.from(viewOf),
    depth: Int32Array.from(depth),
    isDone: Uint8Array.from(states, ({ done }) => Number(done)),
    commandOffsets: Int32Array.from(commandOffsets),
    next: Int32Array.from(next),
  };

  function rowAt(state: State, stateDepth: number): number {
    const key = keyOf(state);
    const known = rowOf.get(key);
    if (known !== undefined) return known;
    rowOf.set(key, states.length);
    depth.push(stateDepth);
    return states.push(state) - 1;
  }

  function viewAt(state: State): number {
    const scene = sceneOf(world, state);
    const text = describe(scene);
    const known = viewRow.get(text);
    if (known !== undefined) return known;
    viewRow.set(text, views.length);
    return views.push({ text, scene, commands: admissibleCommands(scene) }) - 1;
  }
}

/** The fewest turns from the start to success, or null where there is no way. */
export function shortestSolution({ isDone, depth }: StateGraph): number | null {
  const first = isDone.indexOf(1);
  return first < 0 ? null : depth[first];
}

function keyOf({ room, open, locked, lampOn, place, treatment, done }: State): string {
  const flags = [...open, ...locked, lampOn, done].map(Number).join('');
  return `${room}|${flags}|${place.join()}|${treatment.join()}`;
}
