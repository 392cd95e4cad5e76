import { nodeMeans, trajectoryTree, type TrajectoryTree } from '#lib/credit';
import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { ownerOf } from '#lib/numeric';

/** A place from which trajectories went on: a prompt, or a turn that another one followed. */
export interface Anchor {
  /** index among the nodes of the tree */
  readonly node: number;
  readonly group: string;
  /** the turn that leads there, by the trajectory that was first to take it; null: the prompt */
  readonly at: { readonly trajectory: string; readonly turn: number } | null;
  /** turns before it; 0: the prompt */
  readonly depth: number;
  /** trajectories through it that have an outcome */
  readonly continuations: number;
  /** their mean outcome; null: there is none */
  readonly mean: number | null;
  /** trajectories whose first turn of their own was taken here */
  readonly started: number;
}

/**
 * Every anchor of a training step, prompts first, then in the order in which they were first reached.
 *
 * @param outcome [trajectories] NaN: none
 */
export function anchorsOf(
  trajectories: TrajectoryBatch,
  outcome: NumericValues,
): { tree: TrajectoryTree; anchors: Anchor[] } {
  const { ids, groups, groupOf, turnOffsets } = trajectories;
  const tree = trajectoryTree(trajectories);
  const { mean, leaves } = nodeMeans(tree, outcome, 'leaves');
  const started = new Int32Array(tree.nodeCount);
  const hasChild = new Uint8Array(tree.nodeCount);
  const trajectoryOf = ownerOf(turnOffsets);
  for (const parent of tree.parentNode) if (parent >= 0) hasChild[parent] = 1;
  for (let i = 0; i < ids.length; i++) {
    // the first turn that no earlier trajectory of its tree had taken
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      if (trajectoryOf[tree.turnOf[tree.nodeOf[t]]] !== i) continue;
      started[tree.parentNode[tree.nodeOf[t]]]++;
      break;
    }
  }
  const anchors = Array.from(mean, (_, n) => n)
    .filter((n) => tree.parentNode[n] < 0 || hasChild[n] === 1)
    .map((node): Anchor => {
      const row = tree.turnOf[node];
      const owner = row < 0 ? -1 : trajectoryOf[row];
      return {
        node,
        group: groups[row < 0 ? node : groupOf[owner]],
        at: row < 0 ? null : { trajectory: ids[owner], turn: tree.depth[node] - 1 },
        depth: tree.depth[node],
        continuations: leaves[node],
        mean: leaves[node] === 0 ? null : mean[node],
        started: started[node],
      };
    });
  return { tree, anchors };
}
