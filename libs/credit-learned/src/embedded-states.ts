import { statesInOrder, type StateRows } from '#lib/credit';
import type { TrajectoryBatch } from '#lib/dataset';
import { firstRows, pairLabels } from '#lib/numeric';
import { cosineClusters, FEATURE_WIDTH, textFeatures, type Device, type Rows } from '#lib/tensor';
import { loggedEmbeddings, unitRows } from './embeddings.js';

/** Of the projection of states' texts: the same in every analysis, and wherever states are compared. */
export const STATE_SEED = 'states';

export interface EmbeddedStates {
  /** [states in order] states of a group that are the same have the same label; -1: not said */
  readonly labels: Int32Array;
  readonly warnings: readonly string[];
}

/**
 * Online clusters of states by the cosine of their embeddings, inside a group: in the order of the batch, a state joins the
 * first cluster whose first state has a cosine of at least the threshold with it, or opens a new one (see cosineClusters).
 *
 * An embedding is the signal `embedding` of a turn, where every turn that says its state has one, all of one width. A final
 * state, which has none, is then the state of the first turn of its group with an equal text, or one of its own. Else it is
 * made of the text (see textFeatures), whose words are weighed by the distinct states of the batch.
 *
 * @param trajectories with texts
 */
export async function embeddedStates(
  device: Device,
  trajectories: TrajectoryBatch,
  threshold: number,
): Promise<EmbeddedStates> {
  const rows = statesInOrder(trajectories);
  const { vectors, warnings } = usableEmbeddings(trajectories);
  const labels = vectors ? await byEmbedding(device, rows, vectors, threshold) : await byText(device, rows, threshold);
  return { labels, warnings };
}

/** Equal texts of a group have one vector and meet the same clusters, so each is compared once. */
async function byText(device: Device, { group, text, texts }: StateRows, threshold: number): Promise<Int32Array> {
  const pairs = pairLabels(group, text);
  const first = firstRows(pairs);
  const keys = [...new Set(first.map((row) => text[row]))];
  const place = new Map(keys.map((key, i) => [key, i]));
  const features = await textFeatures(
    device,
    keys.map((key) => texts![key]),
    STATE_SEED,
  );
  const { labels } = await cosineClusters(
    device,
    {
      vectors: { values: features, width: FEATURE_WIDTH },
      vectorOf: first.map((row) => place.get(text[row])!),
      group: first.map((row) => group[row]),
    },
    threshold,
  );
  return pairs.labels.map((pair) => (pair < 0 ? -1 : labels[pair]));
}

async function byEmbedding(
  device: Device,
  { group, text, turn }: StateRows,
  vectors: Rows,
  threshold: number,
): Promise<Int32Array> {
  const turns = Int32Array.from(turn.keys()).filter((row) => turn[row] >= 0 && text[row] >= 0);
  const clusters = await cosineClusters(
    device,
    { vectors, vectorOf: turns.map((row) => turn[row]), group: turns.map((row) => group[row]) },
    threshold,
  );
  const labels = new Int32Array(turn.length).fill(-1);
  turns.forEach((row, i) => (labels[row] = clusters.labels[i]));

  let { count } = clusters;
  const pairs = pairLabels(group, text);
  const labelOf = new Map<number, number>();
  for (const row of turns) if (!labelOf.has(pairs.labels[row])) labelOf.set(pairs.labels[row], labels[row]);
  for (let row = 0; row < turn.length; row++) {
    const pair = pairs.labels[row];
    if (turn[row] >= 0 || pair < 0) continue;
    if (!labelOf.has(pair)) labelOf.set(pair, count++);
    labels[row] = labelOf.get(pair)!;
  }
  return labels;
}

/** What the trainer logged, by turn, of unit length; null: not every state has one, and where some have, why that is. */
function usableEmbeddings(trajectories: TrajectoryBatch): { vectors: Rows | null; warnings: string[] } {
  const logged = loggedEmbeddings(trajectories);
  if (!logged) return { vectors: null, warnings: [] };
  const spoken = logged.filter((_, turn) => trajectories.stateKey[turn] >= 0);
  const found = spoken.filter((embedding) => embedding !== null && embedding.length > 0);
  const [width, ...others] = new Set(found.map((embedding) => embedding!.length));
  if (found.length === 0) return { vectors: null, warnings: [] };
  if (found.length === spoken.length && others.length === 0) return { vectors: unitRows(logged, width), warnings: [] };
  const what =
    others.length > 0 ? `have ${width} and ${others[0]} numbers` : `are on ${found.length} of ${spoken.length} turns`;
  return { vectors: null, warnings: [`embeddings ${what}: states were compared by their texts`] };
}
