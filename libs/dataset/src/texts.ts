import { textHashes } from '#lib/numeric';
import { laterColumn } from './later-column.js';
import type { Texts } from './trajectory-batch.js';

/** `textHashes` of what keys mean: those of key k at 2k (the low 32 bits) and 2k + 1 (the high ones). */
export interface TextHashes {
  readonly states: Uint32Array;
  readonly actions: Uint32Array;
}

/**
 * Hashes beside the texts that they are of, and not in them: a copy with other states, `{ ...texts, states }`, would take
 * along the hashes of the old ones.
 */
const known = new WeakMap<Texts, () => TextHashes>();

/** The hashes of the texts: a segment has them stored, of others they are computed once. They tell the same texts apart, wherever those come from. */
export function hashesOf(texts: Texts): TextHashes {
  const hashes = known.get(texts)?.() ?? { states: textHashes(texts.states), actions: textHashes(texts.actions) };
  known.set(texts, () => hashes);
  return hashes;
}

/**
 * Texts that are made when they are first asked for.
 *
 * @param makeHashes where they are known without the texts
 */
export function laterTexts(
  makeStates: () => readonly string[],
  makeActions: () => readonly string[],
  makeHashes?: () => TextHashes,
): Texts {
  const [states, actions] = [laterColumn('text', makeStates), laterColumn('text', makeActions)];
  const texts: Texts = {
    get states() {
      return states.values as readonly string[];
    },
    get actions() {
      return actions.values as readonly string[];
    },
  };
  if (makeHashes) known.set(texts, makeHashes);
  return texts;
}
