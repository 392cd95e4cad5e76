import type { Treatment } from './catalogue.js';
import type { Scene, SeenThing } from './scene.js';

/** What the agent may do. `thing`, `receptacle` and `room` are names, as the text has them. */
export type Command =
  | { readonly verb: 'look' | 'use' }
  | { readonly verb: 'go'; readonly room: string }
  | { readonly verb: 'open' | 'close'; readonly receptacle: string }
  | { readonly verb: 'take' | 'put' | 'unlock'; readonly thing: string; readonly receptacle: string }
  | { readonly verb: 'treat'; readonly thing: string; readonly receptacle: string; readonly treatment: Treatment }
  | { readonly verb: 'examine' | 'throw'; readonly thing: string };

export interface Admissible {
  readonly command: Command;
  readonly text: string;
}

const TREAT_VERB: Record<Treatment, string> = { clean: 'clean', hot: 'heat', cool: 'cool' };

/** The commands that this scene admits, always in the same order. No text is the beginning of another one. */
export function admissibleCommands(scene: Scene): Admissible[] {
  const { carried } = scene;
  return [
    { command: { verb: 'look' }, text: 'look' },
    ...scene.exits.map((room): Admissible => ({ command: { verb: 'go', room }, text: `go to ${room}` })),
    ...doorCommands(scene),
    ...(scene.lamp ? [{ command: { verb: 'use' }, text: 'use desklamp' } as const] : []),
    ...(carried ? carryingCommands(scene, carried) : takeCommands(scene)),
  ];
}

/** A locked door can be tried as well: nothing happens. */
function doorCommands({ receptacles }: Scene): Admissible[] {
  return receptacles.flatMap(({ name, door }): Admissible[] => {
    if (!door) return [];
    const verb = door === 'open' ? 'close' : 'open';
    return [{ command: { verb, receptacle: name }, text: `${verb} ${name}` }];
  });
}

function takeCommands({ receptacles }: Scene): Admissible[] {
  return receptacles.flatMap(({ name: receptacle, things }) =>
    things.map(({ name: thing }): Admissible => {
      return { command: { verb: 'take', thing, receptacle }, text: `take ${thing} from ${receptacle}` };
    }),
  );
}

function carryingCommands({ receptacles, hasChute }: Scene, carried: SeenThing): Admissible[] {
  const thing = carried.name;
  const commands: Admissible[] = [{ command: { verb: 'examine', thing }, text: `examine ${thing}` }];
  for (const { name: receptacle, preposition, takes, treats, door } of receptacles) {
    if (takes.includes(carried.kind) && (door === null || door === 'open')) {
      commands.push({ command: { verb: 'put', thing, receptacle }, text: `put ${thing} ${preposition} ${receptacle}` });
    }
    if (treats && carried.treatments.includes(treats)) {
      const text = `${TREAT_VERB[treats]} ${thing} with ${receptacle}`;
      commands.push({ command: { verb: 'treat', thing, receptacle, treatment: treats }, text });
    }
    if (door === 'locked' && carried.kind === 'key') {
      commands.push({ command: { verb: 'unlock', thing, receptacle }, text: `unlock ${receptacle} with ${thing}` });
    }
  }
  if (hasChute) commands.push({ command: { verb: 'throw', thing }, text: `throw ${thing} into chute` });
  return commands;
}
