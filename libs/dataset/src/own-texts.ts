import { hashesOf, laterTexts } from './texts.js';
import type { TrajectoryBatch } from './trajectory-batch.js';

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
    () => ({
      states: hashesAt(hashesOf(texts).states, states.used),
      actions: hashesAt(hashesOf(texts).actions, actions.used),
    }),
  );
  return { ...trajectories, stateKey: states.keys, actionKey: actions.keys, texts: ownTexts };
}

/** The hashes of some keys. */
function hashesAt(hashes: Uint32Array, keys: readonly number[]): Uint32Array {
  const own = new Uint32Array(2 * keys.length);
  for (let k = 0; k < keys.length; k++) {
    own[2 * k] = hashes[2 * keys[k]];
    own[2 * k + 1] = hashes[2 * keys[k] + 1];
  }
  return own;
}

/**
 * [key] its own number: from `begins` on, and below it what earlier batches left. So a batch takes no longer than it has
 * turns, however many texts the whole has.
 */
let ownOf = new Float64Array(0);
let begins = 1;

/** @returns `used`: [own key] the key it was */
function ownKeys(keys: Int32Array): { keys: Int32Array; used: readonly number[] } {
  const own = new Int32Array(keys.length);
  const used: number[] = [];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key >= ownOf.length) ownOf = grown(ownOf, key + 1);
    if (key >= 0 && ownOf[key] < begins) ownOf[key] = begins + used.push(key) - 1;
    own[i] = key < 0 ? key : ownOf[key] - begins;
  }
  begins += used.length;
  return { keys: own, used };
}

function grown(numbers: Float64Array<ArrayBuffer>, atLeast: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.max(numbers.length * 2, atLeast));
  larger.set(numbers);
  return larger;
}
