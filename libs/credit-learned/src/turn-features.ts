import type { TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import { FEATURE_WIDTH, textFeatures, type Device, type Rows } from '#lib/tensor';
import { unitRows, type Embeddings } from './embeddings.js';

/** Vectors of turns, each number of a mean square of about 1. */
export interface TurnFeatures {
  /** the state before the turn */
  readonly state: Rows;
  /** the state and what was done in it */
  readonly turn: Rows;
}

/**
 * What a model sees of turns: their texts (see textFeatures), or, of states, the embeddings that the trainer logged on
 * every turn. State and action are projected apart and added; beside an embedding the action stands on its own.
 *
 * @param embeddings [turns] null, or not all of one width: the texts are taken
 */
export async function turnFeatures(
  device: Device,
  trajectories: TrajectoryBatch,
  embeddings: Embeddings | undefined,
  seed: number,
): Promise<TurnFeatures> {
  const { stateKey, actionKey, texts } = trajectories;
  if (!texts) throw new RecreditError('internal.error', 'turn features are made of texts');
  const action = await featuresOfKeys(device, actionKey, texts.actions, `action ${seed}`);
  const width = embeddingWidth(embeddings);
  if (embeddings && width > 0) {
    const state = unitRows(embeddings, width, Math.sqrt(width));
    return { state, turn: sideBySide(state, action) };
  }
  const state = await featuresOfKeys(device, stateKey, texts.states, `state ${seed}`);
  const turn = state.values.map((value, i) => (value + action.values[i]) * Math.SQRT1_2);
  return { state, turn: { values: turn, width: FEATURE_WIDTH } };
}

/** One vector per distinct text, laid out by turn. */
async function featuresOfKeys(device: Device, keys: Int32Array, texts: readonly string[], seed: string): Promise<Rows> {
  const distinct = [...new Set(keys)];
  const place = new Map(distinct.map((key, i) => [key, i]));
  const features = await textFeatures(
    device,
    distinct.map((key) => texts[key] ?? ''),
    seed,
  );
  const scale = Math.sqrt(FEATURE_WIDTH);
  const values = new Float32Array(keys.length * FEATURE_WIDTH);
  keys.forEach((key, t) => {
    const from = place.get(key)! * FEATURE_WIDTH;
    for (let k = 0; k < FEATURE_WIDTH; k++) values[t * FEATURE_WIDTH + k] = features[from + k] * scale;
  });
  return { values, width: FEATURE_WIDTH };
}

/** The width that all embeddings have; 0: there are none, or of several widths. */
function embeddingWidth(embeddings: Embeddings | undefined): number {
  const width = embeddings?.[0]?.length ?? 0;
  return embeddings?.every((each) => each?.length === width) ? width : 0;
}

function sideBySide(left: Rows, right: Rows): Rows {
  const width = left.width + right.width;
  const values = new Float32Array((left.values.length / left.width) * width);
  for (let t = 0; t * width < values.length; t++) {
    values.set(left.values.subarray(t * left.width, (t + 1) * left.width), t * width);
    values.set(right.values.subarray(t * right.width, (t + 1) * right.width), t * width + left.width);
  }
  return { values, width };
}
