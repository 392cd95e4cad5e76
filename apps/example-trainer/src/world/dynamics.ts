import type { Command } from './commands.js';
import { isAchieved } from './tasks.js';
import { CARRIED, GONE, type State, type World } from './world.js';

/**
 * The state after an admissible command. Nothing is left to chance. Two acts cannot be undone: what went down the
 * chute is lost, and a key stays in the lock that it opened.
 */
export function applyCommand(world: World, state: State, command: Command): State {
  if (state.done) return state;
  const next = { ...state, ...change(world, state, command) };
  return next.done || isAchieved(world, next) ? { ...next, done: true } : next;
}

function change(world: World, state: State, command: Command): Partial<State> {
  switch (command.verb) {
    case 'look':
      return {};
    case 'go':
      return { room: world.rooms.indexOf(command.room) };
    case 'use':
      return { lampOn: !state.lampOn };
    case 'open':
    case 'close': {
      const r = receptacleOf(world, command);
      return state.locked[r] ? {} : { open: state.open.with(r, command.verb === 'open') };
    }
    case 'take':
      return { place: state.place.with(thingOf(world, command), CARRIED) };
    case 'put':
      return { place: state.place.with(thingOf(world, command), receptacleOf(world, command)) };
    case 'treat':
      return { treatment: state.treatment.with(thingOf(world, command), command.treatment) };
    case 'throw':
      return { place: state.place.with(thingOf(world, command), GONE) };
    case 'unlock':
      return {
        locked: state.locked.with(receptacleOf(world, command), false),
        place: state.place.with(thingOf(world, command), GONE),
      };
    case 'examine':
      return {
        done: world.task.type === 'examine' && world.things[thingOf(world, command)].kind === world.task.target,
      };
  }
}

function thingOf({ things }: World, { thing }: { readonly thing: string }): number {
  return things.findIndex(({ name }) => name === thing);
}

function receptacleOf({ receptacles }: World, { receptacle }: { readonly receptacle: string }): number {
  return receptacles.findIndex(({ name }) => name === receptacle);
}
