import { taskOf } from './tasks.js';
import type { World } from './world.js';

/**
 * Two rooms, written by hand, for the specs: a mug on the countertop, a key in the closed drawer, a locked safe, a
 * lamp, a chute.
 */
export function tinyWorld(changes: Partial<World> = {}): World {
  const surface = { openable: false, preposition: 'on', treats: null } as const;
  const container = { openable: true, preposition: 'in', treats: null } as const;
  return {
    id: 'tiny',
    task: taskOf('put', 'mug', 'shelf', 'on'),
    rooms: ['kitchen', 'bedroom'],
    receptacles: [
      { ...surface, name: 'countertop', room: 0, takes: ['mug', 'key'] },
      { ...container, name: 'microwave', room: 0, openable: false, treats: 'hot', takes: [] },
      { ...surface, name: 'shelf', room: 1, takes: ['mug'] },
      { ...container, name: 'drawer', room: 1, takes: ['key'] },
      { ...container, name: 'safe', room: 1, takes: ['mug'] },
    ],
    things: [
      { name: 'mug 1', kind: 'mug', treatments: ['hot'] },
      { name: 'key 1', kind: 'key', treatments: [] },
    ],
    lampRoom: 1,
    chuteRoom: 0,
    start: {
      room: 0,
      open: [false, false, false, false, false],
      locked: [false, false, false, false, true],
      lampOn: false,
      place: [0, 3],
      treatment: [null, null],
      done: false,
    },
    stepLimit: 6,
    ...changes,
  };
}
