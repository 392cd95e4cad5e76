import type { TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import { FEATURE_WIDTH, textFeatures, type Device, type Rows } from '#lib/tensor';
import type { Embeddings } from './embeddings.js';

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
    const state = embeddedRows(embeddings, width);
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

function embeddedRows(embeddings: Embeddings, width: number): Rows {
  const values = new Float32Array(embeddings.length * width);
  embeddings.forEach((embedding, t) => {
    const length = Math.hypot(...embedding!) || 1;
    embedding!.forEach((value, k) => (values[t * width + k] = (value / length) * Math.sqrt(width)));
  });
  return { values, width };
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

/** Numbers that tell where in its trajectory a row is: 1 / (t + 1), ln(1 + t) / 3. */
const PLACE_WIDTH = 2;

function writePlace(values: Float32Array, at: number, t: number) {
  values[at] = 1 / (t + 1);
  values[at + 1] = Math.log1p(t) / 3;
}

/** Rows with their place: [ now[t], 1 / (t + 1), ln(1 + t) / 3 ]. */
export function inPlace(now: Rows, turnOffsets: Int32Array): Rows {
  const width = now.width + PLACE_WIDTH;
  const values = new Float32Array((now.values.length / now.width) * width);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    for (let row = turnOffsets[i]; row < turnOffsets[i + 1]; row++) {
      values.set(now.values.subarray(row * now.width, (row + 1) * now.width), row * width);
      writePlace(values, row * width + now.width, row - turnOffsets[i]);
    }
  }
  return { values, width };
}

/**
 * Rows in the light of what came before them in their trajectory.
 *
 *     [ now[t], mean of past[u] over u < t, 1 / (t + 1), ln(1 + t) / 3 ]      the mean is 0 at t = 0
 */
export function inContext(now: Rows, past: Rows, turnOffsets: Int32Array): Rows {
  const width = now.width + past.width + PLACE_WIDTH;
  const values = new Float32Array((now.values.length / now.width) * width);
  const sum = new Float64Array(past.width);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    sum.fill(0);
    for (let row = turnOffsets[i]; row < turnOffsets[i + 1]; row++) {
      const t = row - turnOffsets[i];
      const at = row * width;
      values.set(now.values.subarray(row * now.width, (row + 1) * now.width), at);
      for (let k = 0; k < past.width; k++) {
        if (t > 0) values[at + now.width + k] = sum[k] / t;
        sum[k] += past.values[row * past.width + k];
      }
      writePlace(values, at + now.width + past.width, t);
    }
  }
  return { values, width };
}
