import { laterColumn } from './later-column.js';
import type { Texts, TrajectoryBatch } from './trajectory-batch.js';

/**
 * The trajectories with states and actions numbered from 0 in order of first appearance, and no text beside those that
 * appear: a slice has the texts of the whole, and whoever looks at each text would look at those of the others too.
 */
export function withOwnTexts(trajectories: TrajectoryBatch): TrajectoryBatch {
  const { texts } = trajectories;
  if (!texts) return trajectories;
  const [states, actions] = [ownKeys(trajectories.stateKey), ownKeys(trajectories.actionKey)];
  const ownTexts = laterTexts(
    () => states.used.map((key) => texts.states[key]),
    () => actions.used.map((key) => texts.actions[key]),
  );
  return { ...trajectories, stateKey: states.keys, actionKey: actions.keys, texts: ownTexts };
}

/** Texts that are made when they are first asked for. */
export function laterTexts(makeStates: () => readonly string[], makeActions: () => readonly string[]): Texts {
  const [states, actions] = [laterColumn('text', makeStates), laterColumn('text', makeActions)];
  return {
    get states() {
      return states.values as readonly string[];
    },
    get actions() {
      return actions.values as readonly string[];
    },
  };
}

/** @returns `used`: [own key] the key it was */
function ownKeys(keys: Int32Array): { keys: Int32Array; used: number[] } {
  const numberOf = new Map<number, number>();
  const used: number[] = [];
  const own = keys.map((key) => {
    if (key < 0) return key;
    const known = numberOf.get(key) ?? used.push(key) - 1;
    numberOf.set(key, known);
    return known;
  });
  return { keys: own, used };
}
