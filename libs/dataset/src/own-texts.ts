import { scratchInts } from '#lib/numeric';
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
    () => textsAt(texts.states, states.used),
    () => textsAt(texts.actions, actions.used),
    () => ({
      states: hashesAt(hashesOf(texts).states, states.used),
      actions: hashesAt(hashesOf(texts).actions, actions.used),
    }),
  );
  return { ...trajectories, stateKey: states.keys, actionKey: actions.keys, texts: ownTexts };
}

const textsAt = (texts: readonly string[], keys: Int32Array) => Array.from(keys, (key) => texts[key]);

/** The hashes of some keys. */
function hashesAt(hashes: Uint32Array, keys: Int32Array): Uint32Array {
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
const usedOf = scratchInts();

/** @returns `used`: [own key] the key it was */
function ownKeys(keys: Int32Array): { keys: Int32Array; used: Int32Array } {
  const own = new Int32Array(keys.length);
  const used = usedOf(keys.length);
  let count = 0;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key < 0) {
      own[i] = key;
      continue;
    }
    if (key >= ownOf.length) ownOf = grown(ownOf, key + 1);
    if (ownOf[key] < begins) {
      ownOf[key] = begins + count;
      used[count++] = key;
    }
    own[i] = ownOf[key] - begins;
  }
  begins += count;
  return { keys: own, used: used.slice(0, count) };
}

function grown(numbers: Float64Array, atLeast: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.max(numbers.length * 2, atLeast));
  larger.set(numbers);
  return larger;
}
