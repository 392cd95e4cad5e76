import type { View } from '../world/state-graph.js';
import { factsOf, featuresOf } from './features.js';

/** A word that the policy had no say in: nothing else was admissible. */
export const FORCED = -1;

/**
 * How commands are spelt, word by word, in each view: where several words may follow there is a fork, and each of
 * its words is a choice with features. A command is a path of choices and forced words.
 * Choices of fork n are the rows `forkOffsets[n] .. forkOffsets[n + 1] - 1`.
 */
export interface WordTree {
  readonly forkOffsets: Int32Array;
  /** [choices] */
  readonly forkOf: Int32Array;
  /** [choices + 1], into `features` */
  readonly featureOffsets: Int32Array;
  readonly features: Int32Array;
  /** [views][commands] */
  readonly commands: readonly (readonly SpeltCommand[])[];
}

export interface SpeltCommand {
  readonly text: string;
  /** per word: the choice, or FORCED */
  readonly choices: readonly number[];
}

export function wordTree(views: readonly Pick<View, 'scene' | 'commands'>[]): WordTree {
  const forkOffsets = [0];
  const forkOf: number[] = [];
  const featureOffsets = [0];
  const features: number[] = [];
  const commands = views.map((view) => spellView(view));
  return {
    forkOffsets: Int32Array.from(forkOffsets),
    forkOf: Int32Array.from(forkOf),
    featureOffsets: Int32Array.from(featureOffsets),
    features: Int32Array.from(features),
    commands,
  };

  function spellView({ scene, commands: admissible }: Pick<View, 'scene' | 'commands'>): SpeltCommand[] {
    const facts = factsOf(scene);
    const spelt = admissible.map(({ text }) => ({ text, words: text.split(' '), choices: [] as number[] }));
    const waiting = [{ members: spelt, position: 0 }];
    for (const { members, position } of waiting) {
      const byWord = Map.groupBy(members, ({ words }) => words[position]);
      const isFork = byWord.size > 1;
      for (const [word, following] of byWord) {
        const choice = isFork ? forkOf.push(forkOffsets.length - 1) - 1 : FORCED;
        if (isFork) {
          features.push(...featuresOf(scene, facts, [...following[0].words.slice(0, position), word]));
          featureOffsets.push(features.length);
        }
        for (const command of following) command.choices.push(choice);
        const longer = following.filter(({ words }) => words.length > position + 1);
        if (longer.length > 0) waiting.push({ members: longer, position: position + 1 });
      }
      if (isFork) forkOffsets.push(forkOf.length);
    }
    return spelt.map(({ text, choices }) => ({ text, choices }));
  }
}
