import type { TrajectoryBatch } from '#lib/dataset';
import { rowsWhere, seededRandom } from '#lib/numeric';

/** Who is learned from, who decides when to stop, and who is scored. */
export interface Fold {
  /** trajectories, ascending */
  readonly training: Int32Array;
  readonly validation: Int32Array;
  readonly heldOut: Int32Array;
}

/** What is in one fold as a whole, so that no model is trained on one part of it and scores another. */
export type FoldUnit = 'group' | 'trajectory';

type Rows = Pick<TrajectoryBatch, 'groupOf' | 'parentOf' | 'turnOffsets'>;

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
  const where = (is: (fold: number) => boolean) =>
    rowsWhere(unitOf.length, (i) => unitOf[i] >= 0 && is(foldOf[unitOf[i]]));
  return Array.from({ length: count }, (_, f) => {
    const next = (f + 1) % count;
    return {
      training: where((fold) => fold !== f && fold !== next),
      validation: where((fold) => fold === next),
      heldOut: where((fold) => fold === f),
    };
  });
}

/**
 * Groups; or trajectories, each with those that branch off it: their first turns are its own. Only what has turns is a unit, so
 * that no fold is empty.
 *
 * @returns unitOf [trajectories] -1: no turns
 */
function unitsOf(trajectories: Rows, foldsBy: FoldUnit): { unitOf: Int32Array; unitCount: number } {
  const { groupOf, turnOffsets } = trajectories;
  const whole = foldsBy === 'group' ? groupOf : rootsOf(trajectories);
  const numberOf = new Map<number, number>();
  const withTurns = rowsWhere(groupOf.length, (i) => turnOffsets[i + 1] > turnOffsets[i]);
  const wholes = new Set(withTurns.map((i) => whole[i]));
  // in the order in which they are numbered in the batch, whichever of their trajectories has turns
  for (const each of whole) if (wholes.has(each) && !numberOf.has(each)) numberOf.set(each, numberOf.size);
  const unitOf = new Int32Array(groupOf.length).fill(-1);
  for (const i of withTurns) unitOf[i] = numberOf.get(whole[i])!;
  return { unitOf, unitCount: numberOf.size };
}

/** [trajectories] one of those that a trajectory is connected with by parents, the same for all of them. */
function rootsOf({ parentOf }: Rows): Int32Array {
  // parents may lead in a circle, so trajectories are united, and no path is walked to its end
  const link = parentOf.map((_, i) => i);
  const root = (i: number) => {
    while (link[i] !== i) i = link[i] = link[link[i]];
    return i;
  };
  parentOf.forEach((parent, i) => {
    if (parent >= 0) link[root(i)] = root(parent);
  });
  return link.map((_, i) => root(i));
}

/**
 * Why a training step cannot be learned from; null: it can.
 *
 * @param target [trajectories] or [turns] what is to be learned
 */
export function tooLittle(
  trajectories: Rows,
  target: Float64Array,
  { minTrajectories, foldsBy }: { readonly minTrajectories: number; readonly foldsBy: FoldUnit },
): string | null {
  const { unitOf, unitCount } = unitsOf(trajectories, foldsBy);
  const count = unitOf.reduce((sum, unit) => sum + Number(unit >= 0), 0);
  if (count < minTrajectories) {
    return `too small to learn from: ${count} trajectories with turns, and minTrajectories is ${minTrajectories}`;
  }
  if (unitCount < LEAST_UNITS) {
    const units = foldsBy === 'group' ? 'groups' : 'trajectories that are no branches';
    return `too small to learn from: ${unitCount} ${units}, and a model is trained on one, stopped by a second and scores a third`;
  }
  const isPerTrajectory = target.length === unitOf.length;
  const learned = isPerTrajectory ? target.filter((_, i) => unitOf[i] >= 0) : target;
  const areEqual = learned.every((value) => value === learned[0]);
  return areEqual ? 'every trajectory ended alike: there is nothing to learn' : null;
}
