import type { TrajectoryBatch } from '#lib/dataset';
import { seededRandom } from '#lib/numeric';

/** Who is learned from, who decides when to stop, and who is scored. */
export interface Fold {
  /** trajectories, ascending */
  readonly training: Int32Array;
  readonly validation: Int32Array;
  readonly heldOut: Int32Array;
}

/** What is in one fold as a whole, so that no model is trained on one part of it and scores another. */
export type FoldUnit = 'group' | 'trajectory';

type Rows = Pick<TrajectoryBatch, 'groupOf' | 'groupCount' | 'parentOf' | 'turnOffsets'>;

/** Trains, validates and scores: no fewer parts than these. */
const LEAST_UNITS = 3;

/**
 * Folds of units: the units are shuffled by the seed and dealt out. Fold f is scored by a model that was trained on the
 * others, less fold f + 1, which says when to stop. Trajectories without turns are in none.
 */
export function foldsOf(
  trajectories: Rows,
  { folds, foldsBy, seed }: { readonly folds: number; readonly foldsBy: FoldUnit; readonly seed: number },
): Fold[] {
  const { turnOffsets } = trajectories;
  const { unitOf, unitCount } = unitsOf(trajectories, foldsBy);
  const random = seededRandom(`folds ${seed}`);
  const order = Array.from({ length: unitCount }, (_, unit) => unit);
  for (let i = unitCount - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  const count = Math.min(folds, unitCount);
  const foldOf = new Int32Array(unitCount);
  order.forEach((unit, place) => (foldOf[unit] = place % count));
  const rows = Array.from(unitOf, (_, i) => i).filter((i) => turnOffsets[i + 1] > turnOffsets[i]);
  const where = (is: (fold: number) => boolean) => Int32Array.from(rows.filter((i) => is(foldOf[unitOf[i]])));
  return Array.from({ length: count }, (_, f) => {
    const next = (f + 1) % count;
    return {
      training: where((fold) => fold !== f && fold !== next),
      validation: where((fold) => fold === next),
      heldOut: where((fold) => fold === f),
    };
  });
}

/** Groups; or trajectories, each with those that branch off it: their first turns are its own. */
function unitsOf({ groupOf, groupCount, parentOf }: Rows, foldsBy: FoldUnit) {
  if (foldsBy === 'group') return { unitOf: groupOf, unitCount: groupCount };
  // parents may lead in a circle, so trajectories are united, and no path is walked to its end
  const link = parentOf.map((_, i) => i);
  const root = (i: number) => {
    while (link[i] !== i) i = link[i] = link[link[i]];
    return i;
  };
  parentOf.forEach((parent, i) => {
    if (parent >= 0) link[root(i)] = root(parent);
  });
  const numberOf = new Map<number, number>();
  const unitOf = link.map((_, i) => {
    const unit = numberOf.get(root(i)) ?? numberOf.size;
    numberOf.set(root(i), unit);
    return unit;
  });
  return { unitOf, unitCount: numberOf.size };
}

/** Why a training step cannot be learned from; null: it can. */
export function tooLittle(
  trajectories: Rows,
  outcome: ArrayLike<number>,
  { minTrajectories, foldsBy }: { readonly minTrajectories: number; readonly foldsBy: FoldUnit },
): string | null {
  const { groupOf, turnOffsets } = trajectories;
  const count = groupOf.reduce((sum, _, i) => sum + Number(turnOffsets[i + 1] > turnOffsets[i]), 0);
  if (count < minTrajectories) {
    return `too small to learn from: ${count} trajectories with turns, and minTrajectories is ${minTrajectories}`;
  }
  const { unitCount } = unitsOf(trajectories, foldsBy);
  if (unitCount < LEAST_UNITS) {
    const units = foldsBy === 'group' ? 'groups' : 'trajectories that are no branches';
    return `too small to learn from: ${unitCount} ${units}, and a model is trained on one, stopped by a second and scores a third`;
  }
  const first = outcome[0];
  for (let i = 1; i < outcome.length; i++) if (outcome[i] !== first) return null;
  return 'every trajectory ended alike: there is nothing to learn';
}
