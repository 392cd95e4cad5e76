import { describe as group, expect, it } from 'vitest';
import { admissibleCommands } from './commands.js';
import { applyCommand } from './dynamics.js';
import { describe, sceneOf } from './scene.js';
import { taskOf } from './tasks.js';
import { tinyWorld } from './tiny-world.js';
import type { State, World } from './world.js';

/** Plays commands by their text; a command that is not admissible fails the test. */
function play(world: World, ...texts: string[]): State {
  return texts.reduce((state, text) => {
    const found = admissibleCommands(sceneOf(world, state)).find((admissible) => admissible.text === text);
    if (!found) throw new Error(`not admissible: ${text}`);
    return applyCommand(world, state, found.command);
  }, world.start);
}

const textAt = (world: World, state: State) => describe(sceneOf(world, state));
const commandsAt = (world: World, state: State) => admissibleCommands(sceneOf(world, state)).map(({ text }) => text);

group('the world', () => {
  it('says what is seen, and nothing of what is behind doors or in other rooms', () => {
    const world = tinyWorld();
    expect(textAt(world, world.start)).toBe(
      'Your task is to: put some mug on shelf. You are in the kitchen. ' +
        'You see a countertop with a mug 1, a microwave, and a garbage chute. ' +
        'Doors lead to the bedroom. You carry nothing.',
    );
    expect(textAt(world, play(world, 'go to bedroom'))).toContain('a drawer (closed), a safe (locked)');
    expect(textAt(world, play(world, 'go to bedroom', 'open drawer'))).toContain('a drawer (open) with a key 1');
    expect(textAt(world, play(world, 'go to bedroom', 'open drawer', 'take key 1 from drawer'))).toContain(
      'a drawer (open, empty)',
    );
  });

  it('admits what the scene allows', () => {
    const world = tinyWorld();
    expect(commandsAt(world, world.start)).toEqual(['look', 'go to bedroom', 'take mug 1 from countertop']);
    expect(commandsAt(world, play(world, 'take mug 1 from countertop'))).toEqual([
      'look',
      'go to bedroom',
      'examine mug 1',
      'put mug 1 on countertop',
      'heat mug 1 with microwave',
      'throw mug 1 into chute',
    ]);
  });

  it('comes back to the same state by going to and fro', () => {
    const world = tinyWorld();
    expect(play(world, 'go to bedroom', 'look', 'open drawer', 'close drawer', 'go to kitchen')).toEqual(world.start);
  });

  it('does not open a locked door, and keeps the key that unlocks it', () => {
    const world = tinyWorld();
    expect(play(world, 'go to bedroom', 'open safe')).toEqual(play(world, 'go to bedroom'));
    const keyInHand = ['go to bedroom', 'open drawer', 'take key 1 from drawer'];
    const unlocked = play(world, ...keyInHand, 'unlock safe with key 1', 'open safe');
    expect(textAt(world, unlocked)).toContain('a safe (open, empty)');
    expect(textAt(world, unlocked)).not.toContain('key');
  });

  it('does not give back what went down the chute', () => {
    const world = tinyWorld();
    const lost = play(world, 'take mug 1 from countertop', 'throw mug 1 into chute');
    expect(textAt(world, lost)).not.toContain('mug 1');
    expect(commandsAt(world, lost)).toEqual(['look', 'go to bedroom']);
  });
});

group('a task is achieved', () => {
  const take = 'take mug 1 from countertop';
  it.each([
    ['put', taskOf('put', 'mug', 'shelf', 'on'), [take, 'go to bedroom', 'put mug 1 on shelf']],
    [
      'heat',
      taskOf('heat', 'mug', 'shelf', 'on'),
      [take, 'heat mug 1 with microwave', 'go to bedroom', 'put mug 1 on shelf'],
    ],
    ['look', taskOf('look', 'mug', null, 'in'), [take, 'go to bedroom', 'use desklamp']],
    ['examine', taskOf('examine', 'mug', null, 'in'), [take, 'examine mug 1']],
  ])('%s: by its last command and not before', (_, task, texts) => {
    const world = tinyWorld({ task });
    expect(play(world, ...texts).done).toBe(true);
    expect(play(world, ...texts.slice(0, -1)).done).toBe(false);
  });

  it('heat: not by a cold mug', () => {
    const world = tinyWorld({ task: taskOf('heat', 'mug', 'shelf', 'on') });
    expect(play(world, take, 'go to bedroom', 'put mug 1 on shelf').done).toBe(false);
  });

  it('look: by lamp and thing in any order', () => {
    const world = tinyWorld({ task: taskOf('look', 'mug', null, 'in') });
    expect(play(world, 'go to bedroom', 'use desklamp', 'go to kitchen', take, 'go to bedroom').done).toBe(true);
  });

  it('two: by both of them', () => {
    const world = tinyWorld({ task: taskOf('two', 'mug', 'shelf', 'on') });
    const mugs = tinyWorld({
      task: world.task,
      things: [world.things[0], { ...world.things[0], name: 'mug 2' }],
      start: { ...world.start, place: [0, 2] },
    });
    const one = tinyWorld({ ...mugs, start: { ...mugs.start, place: [0, 0] } });
    const bringOne = [take, 'go to bedroom', 'put mug 1 on shelf'];
    expect(play(mugs, ...bringOne).done).toBe(true);
    expect(play(one, ...bringOne).done).toBe(false);
  });
});
