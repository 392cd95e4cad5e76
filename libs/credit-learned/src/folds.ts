import type { TrajectoryBatch } from '#lib/dataset';
import { seededRandom } from '#lib/numeric';

/** Who is learned from, who decides when to stop, and who is scored. */
export interface Fold {
  /** trajectories, ascending */
  readonly training: Int32Array;
  readonly validation: Int32Array;
  readonly heldOut: Int32Array;
}

/** Trains, validates and scores: no fewer parts than these. */
const LEAST_GROUPS = 3;

/**
 * Folds by group: the groups are shuffled by the seed and dealt out. Fold f is scored by a model that was trained on the
 * others, less fold f + 1, which says when to stop. Trajectories without turns are in none.
 */
export function foldsByGroup(
  { groupOf, groupCount, turnOffsets }: Pick<TrajectoryBatch, 'groupOf' | 'groupCount' | 'turnOffsets'>,
  wanted: number,
  seed: number,
): Fold[] {
  const random = seededRandom(`folds ${seed}`);
  const order = Array.from({ length: groupCount }, (_, group) => group);
  for (let i = groupCount - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  const count = Math.min(wanted, groupCount);
  const foldOf = new Int32Array(groupCount);
  order.forEach((group, place) => (foldOf[group] = place % count));
  const rows = Array.from(groupOf, (_, i) => i).filter((i) => turnOffsets[i + 1] > turnOffsets[i]);
  const where = (is: (fold: number) => boolean) => Int32Array.from(rows.filter((i) => is(foldOf[groupOf[i]])));
  return Array.from({ length: count }, (_, f) => {
    const next = (f + 1) % count;
    return {
      training: where((fold) => fold !== f && fold !== next),
      validation: where((fold) => fold === next),
      heldOut: where((fold) => fold === f),
    };
  });
}

/** Why a training step cannot be learned from; null: it can. */
export function tooLittle(
  { groupCount, groupOf, turnOffsets }: Pick<TrajectoryBatch, 'groupOf' | 'groupCount' | 'turnOffsets'>,
  outcome: ArrayLike<number>,
  minTrajectories: number,
): string | null {
  const count = groupOf.reduce((sum, _, i) => sum + Number(turnOffsets[i + 1] > turnOffsets[i]), 0);
  if (count < minTrajectories) {
    return `too small to learn from: ${count} trajectories with turns, and minTrajectories is ${minTrajectories}`;
  }
  if (groupCount < LEAST_GROUPS) {
    return `too small to learn from: ${groupCount} groups, and a model is trained on one, stopped by a second and scores a third`;
  }
  const first = outcome[0];
  for (let i = 1; i < outcome.length; i++) if (outcome[i] !== first) return null;
  return 'every trajectory ended alike: there is nothing to learn';
}
