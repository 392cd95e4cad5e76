import type { TrajectoryBatch } from '#lib/dataset';
import {
  chosenRows,
  documentFrequencies,
  FEATURE_WIDTH,
  nearestRows,
  textFeatures,
  termWeights,
  type Device,
  type DocumentFrequencies,
  type Rows,
} from '#lib/tensor';
import { STATE_SEED } from './embedded-states.js';
import { loggedEmbeddings, unitRows } from './embeddings.js';

/** The state of a turn, as its like is sought: by its embedding where one was logged, else by its text. */
export type SoughtState =
  | { readonly by: 'embedding'; readonly embedding: readonly number[] }
  | {
      readonly by: 'text';
      readonly text: string;
      /** of the distinct states of its training step: how words are weighed, everywhere */
      readonly frequencies: DocumentFrequencies;
    };

/** A turn that began in a similar state. */
export interface NearTurn {
  readonly trajectory: string;
  /** its index */
  readonly turn: number;
  /** cosine of the two states */
  readonly similarity: number;
}

export interface NearTurns {
  /** most similar first; at most k, of each trajectory the nearest turn */
  readonly turns: readonly NearTurn[];
  /** trajectories that had a turn to compare */
  readonly compared: number;
  /** trajectories that had none: no state with a word, or no embedding of this width */
  readonly leftOut: number;
}

/**
 * What the state of a turn is sought by; null: nothing was said of it, or a text without a word.
 *
 * @param trajectories with texts
 * @param row of the turn
 */
export function soughtState(trajectories: TrajectoryBatch, row: number): SoughtState | null {
  const embedding = loggedEmbeddings(trajectories)?.[row];
  if (embedding && embedding.some((value) => value !== 0)) return { by: 'embedding', embedding };
  const { stateKey, texts } = trajectories;
  if (stateKey[row] < 0) return null;
  const text = texts!.states[stateKey[row]];
  if (termWeights([text]).buckets.length === 0) return null;
  const distinct = [...new Set(stateKey)].filter((key) => key >= 0).map((key) => texts!.states[key]);
  return { by: 'text', text, frequencies: documentFrequencies(distinct) };
}

/**
 * The turns nearest to a state, of each of several sets of trajectories: the k trajectories that came nearest to it, and
 * where they did. Of equally near turns the first counts.
 *
 * Products are computed on the device, which keeps the best; each distinct text is compared once.
 *
 * @param trajectories of one training step, with texts
 * @param sets rows of trajectories, each ascending
 * @returns one answer per set
 */
export async function nearestTurns(
  device: Device,
  trajectories: TrajectoryBatch,
  sought: SoughtState,
  sets: readonly Int32Array[],
  k: number,
): Promise<NearTurns[]> {
  const { state, vectors, vectorOf } =
    sought.by === 'embedding'
      ? embeddedTurns(trajectories, sought.embedding)
      : await wordedTurns(device, trajectories, sought);
  const answers: NearTurns[] = [];
  for (const rows of sets) {
    const turnsOf = turnsByVector(trajectories, rows, vectorOf);
    const compared = new Set(turnsOf.values().flatMap((turns) => turns.map(({ trajectory }) => trajectory))).size;
    const turns = await nearestOf(device, state, vectors, turnsOf, Math.min(k, compared));
    answers.push({
      turns: turns.map(({ trajectory, turn, similarity }) => ({ trajectory: trajectories.ids[trajectory], turn, similarity })), // prettier-ignore
      compared,
      leftOut: rows.length - compared,
    });
  }
  return answers;
}

interface PlacedTurn {
  /** row */
  readonly trajectory: number;
  readonly turn: number;
}

interface Candidates {
  readonly state: Rows;
  readonly vectors: Rows;
  /** [turns] -1: none */
  readonly vectorOf: Int32Array;
}

function embeddedTurns(trajectories: TrajectoryBatch, embedding: readonly number[]): Candidates {
  const width = embedding.length;
  const logged = loggedEmbeddings(trajectories);
  const vectorOf = trajectories.stateKey.map((_, turn) => (logged?.[turn]?.length === width ? turn : -1));
  return { state: unitRows([embedding], width), vectors: unitRows(logged ?? [], width), vectorOf };
}

async function wordedTurns(
  device: Device,
  { stateKey, texts }: TrajectoryBatch,
  { text, frequencies }: SoughtState & { readonly by: 'text' },
): Promise<Candidates> {
  const keys = [...new Set(stateKey)].filter((key) => key >= 0);
  const features = await textFeatures(
    device,
    [text, ...keys.map((key) => texts!.states[key])],
    STATE_SEED,
    frequencies,
  );
  const state = { values: features.subarray(0, FEATURE_WIDTH), width: FEATURE_WIDTH };
  const vectors = { values: features.subarray(FEATURE_WIDTH), width: FEATURE_WIDTH };
  const hasWord = (i: number) => vectors.values.subarray(i * FEATURE_WIDTH, (i + 1) * FEATURE_WIDTH).some(Boolean);
  const place = new Map(keys.map((key, i) => [key, hasWord(i) ? i : -1]));
  return {
    state,
    vectors,
    vectorOf: stateKey.map((key) => place.get(key) ?? -1),
  };
}

/** The turns of some trajectories, by their vector, in the order of the batch. */
function turnsByVector(
  { turnOffsets }: TrajectoryBatch,
  rows: Int32Array,
  vectorOf: Int32Array,
): Map<number, PlacedTurn[]> {
  const found = new Map<number, PlacedTurn[]>();
  for (const trajectory of rows) {
    for (let row = turnOffsets[trajectory]; row < turnOffsets[trajectory + 1]; row++) {
      const vector = vectorOf[row];
      if (vector < 0) continue;
      const turns = found.get(vector) ?? [];
      found.set(vector, turns);
      turns.push({ trajectory, turn: row - turnOffsets[trajectory] });
    }
  }
  return found;
}

/** More vectors are asked for until they are of `count` trajectories. */
async function nearestOf(
  device: Device,
  state: Rows,
  vectors: Rows,
  turnsOf: ReadonlyMap<number, readonly PlacedTurn[]>,
  count: number,
): Promise<(PlacedTurn & { readonly similarity: number })[]> {
  if (count === 0) return [];
  const chosen = [...turnsOf.keys()];
  const candidates = { values: chosenRows(vectors, chosen), width: vectors.width };
  for (let asked = count; ; asked *= 4) {
    const { rows, similarity } = await nearestRows(device, state, candidates, Math.min(asked, chosen.length));
    const turns = [...rows]
      .flatMap((row, i) =>
        turnsOf.get(chosen[row])!.map((turn) => ({ ...turn, similarity: Math.min(1, similarity[i]) })),
      )
      .sort((a, b) => b.similarity - a.similarity || a.trajectory - b.trajectory || a.turn - b.turn);
    const seen = new Set<number>();
    const nearest = turns.filter(({ trajectory }) => !seen.has(trajectory) && seen.add(trajectory));
    if (nearest.length >= count || asked >= chosen.length) return nearest.slice(0, count);
  }
}
