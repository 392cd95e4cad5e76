import type { Treatment } from './catalogue.js';
import { CARRIED, type State, type Task, type World } from './world.js';

export interface SeenThing {
  readonly name: string;
  readonly kind: string;
  readonly treatment: Treatment | null;
  readonly treatments: readonly Treatment[];
}

export interface SeenReceptacle {
  readonly name: string;
  readonly preposition: 'in' | 'on';
  readonly treats: Treatment | null;
  readonly takes: readonly string[];
  /** null: it has no door */
  readonly door: 'open' | 'closed' | 'locked' | null;
  /** what can be seen in or on it; nothing behind a closed door */
  readonly things: readonly SeenThing[];
}

/**
 * What the agent perceives: the room it is in, what can be seen there, what it carries. What is behind doors and in
 * other rooms is not in it, and neither is the past: several states of the world look the same.
 */
export interface Scene {
  readonly task: Task;
  readonly room: string;
  readonly exits: readonly string[];
  readonly receptacles: readonly SeenReceptacle[];
  readonly lamp: 'on' | 'off' | null;
  readonly hasChute: boolean;
  readonly carried: SeenThing | null;
}

export function sceneOf(world: World, state: State): Scene {
  const { task, rooms, receptacles, things, lampRoom, chuteRoom } = world;
  const seen = (i: number): SeenThing => ({ ...things[i], treatment: state.treatment[i] });
  const carried = state.place.indexOf(CARRIED);
  return {
    task,
    room: rooms[state.room],
    exits: rooms.filter((_, room) => room !== state.room),
    receptacles: receptacles.flatMap((receptacle, r) => {
      if (receptacle.room !== state.room) return [];
      const { name, preposition, treats, takes } = receptacle;
      const door = doorOf(world, state, r);
      const visible = door === null || door === 'open';
      const inside = visible ? things.flatMap((_, i) => (state.place[i] === r ? [seen(i)] : [])) : [];
      return [{ name, preposition, treats, takes, door, things: inside }];
    }),
    lamp: state.room === lampRoom ? (state.lampOn ? 'on' : 'off') : null,
    hasChute: state.room === chuteRoom,
    carried: carried >= 0 ? seen(carried) : null,
  };
}

function doorOf({ receptacles }: World, state: State, r: number): SeenReceptacle['door'] {
  if (!receptacles[r].openable) return null;
  if (state.locked[r]) return 'locked';
  return state.open[r] ? 'open' : 'closed';
}

/** The scene in words: all of it, so that equal texts are equal scenes. */
export function describe(scene: Scene): string {
  const { task, room, exits, receptacles, lamp, hasChute, carried } = scene;
  const sights = receptacles.map(describeReceptacle);
  if (lamp) sights.push(`a desklamp (${lamp})`);
  if (hasChute) sights.push('a garbage chute');
  return [
    `Your task is to: ${task.statement}.`,
    `You are in the ${room}.`,
    `You see ${list(sights)}.`,
    `Doors lead to the ${exits.join(' and the ')}.`,
    `You carry ${carried ? withArticle(nameOf(carried)) : 'nothing'}.`,
  ].join(' ');
}

function describeReceptacle({ name, door, things }: SeenReceptacle): string {
  const empty = door === 'open' && things.length === 0 ? ', empty' : '';
  const doorway = door ? ` (${door}${empty})` : '';
  const contents = things.map((thing) => withArticle(nameOf(thing))).join(' and ');
  return withArticle(name) + doorway + (contents && ` with ${contents}`);
}

function nameOf({ name, treatment }: SeenThing): string {
  return treatment ? `${treatment} ${name}` : name;
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

function list(parts: readonly string[]): string {
  return parts.length < 3 ? parts.join(' and ') : `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`;
}
