import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { allEqual, scratchInts } from '#lib/numeric';

/**
 * Branching rollouts as trees: a node is a turn, shared by the trajectories that branched off after it. All trees of a
 * group hang on one node, its prompt. Nodes are numbered so that a parent stands before its children.
 */
export interface TrajectoryTree {
  /** nodes 0 .. groupCount - 1 are the prompts of the groups */
  readonly nodeCount: number;
  /** [nodes] -1: a prompt */
  readonly parentNode: Int32Array;
  /** [nodes] number of turns up to and with this one; 0: a prompt */
  readonly depth: Int32Array;
  /** [nodes] row of the turn that made it, in the trajectory that was first to take it; -1: a prompt */
  readonly turnOf: Int32Array;
  /** [turns] the node that the turn leads to */
  readonly nodeOf: Int32Array;
  /** [trajectories] the last node of the path; the prompt where there is no turn */
  readonly endNode: Int32Array;
  /** [trajectories] row of the trajectory that the parents lead to in the end: equal rows are one tree */
  readonly treeOf: Int32Array;
  /** parents that could not be followed, and trees that have no branch */
  readonly warnings: readonly string[];
}

/**
 * Follows `parent` from branch to trunk. A branch lists all its turns; those up to `parent.turn` are its parent's.
 *
 *     node(i, t) = node(parent of i, t)   for t ≤ parent.turn of i, where the parent has such a turn
 *                  a node of its own      else: two independent turns are two nodes, however alike their texts
 *
 * A parent that is not in the batch, or is of another group, or stands in a cycle of parents with its branch, is no
 * parent: the branch begins a tree of its own, and the batch deserves a warning.
 */
export function trajectoryTree(trajectories: TrajectoryBatch): TrajectoryTree {
  const { turnOffsets, groupOf, groupCount } = trajectories;
  const { madeBy, treeOf, shared, warnings } = sharedTurns(trajectories);
  const nodeCount = groupCount + turnOffsets[groupOf.length] - turnOffsets[0] - shared;
  const parentNode = new Int32Array(nodeCount).fill(-1, 0, groupCount);
  const turnOf = new Int32Array(nodeCount).fill(-1, 0, groupCount);
  const depth = new Int32Array(nodeCount);
  const nodeOf = new Int32Array(madeBy.length).fill(-1);
  const endNode = groupOf.slice();
  let next = groupCount;
  for (let i = 0; i < groupOf.length; i++) {
    const first = turnOffsets[i];
    const end = turnOffsets[i + 1];
    let node = groupOf[i];
    for (let row = first; row < end; row++) {
      const owner = madeBy[row];
      let made = nodeOf[owner];
      if (made < 0) {
        made = next++;
        parentNode[made] = node;
        turnOf[made] = owner;
        depth[made] = row - first + 1;
        nodeOf[owner] = made;
      }
      node = made;
      nodeOf[row] = made;
    }
    endNode[i] = node;
  }
  return { nodeCount, parentNode, depth, turnOf, nodeOf, endNode, treeOf, warnings };
}

/** Who made the turns that branches share with their trunks. */
export interface SharedTurns {
  /** [turns] row of the turn that makes its node: of a shared one that of the trunk, else itself */
  readonly madeBy: Int32Array;
  /** turns that another one makes */
  readonly shared: number;
  readonly treeOf: Int32Array;
  readonly warnings: readonly string[];
}

/** All of the trees that needs no nodes; see `trajectoryTree`. */
export function sharedTurns(trajectories: TrajectoryBatch): SharedTurns {
  const { turnOffsets, groupOf } = trajectories;
  const { trunkOf, sharedOf, warnings } = trunks(trajectories);
  const madeBy = new Int32Array(turnOffsets[groupOf.length]);
  for (let row = 0; row < madeBy.length; row++) madeBy[row] = row;
  const treeOf = new Int32Array(groupOf.length);
  for (let i = 0; i < treeOf.length; i++) treeOf[i] = i;
  const order = trunksFirst(trunkOf);
  let shared = 0;
  for (let next = 0; next < order.length; next++) {
    const i = order[next];
    const trunk = trunkOf[i];
    if (trunk < 0) continue;
    treeOf[i] = treeOf[trunk];
    const own = turnOffsets[i];
    const of = turnOffsets[trunk];
    for (let t = 0; t < sharedOf[i]; t++) {
      madeBy[own + t] = madeBy[of + t];
      shared++;
    }
  }
  return { madeBy, shared, treeOf, warnings };
}

const trunksIn = scratchInts();
const sharedIn = scratchInts();
const cyclesIn = scratchInts();
const walksIn = scratchInts();
const orderIn = scratchInts();
const placedIn = scratchInts();
const pathIn = scratchInts();

/** The parent of each trajectory that can be followed (-1: none), and how many turns the two share. */
function trunks({ ids, parentOf, parentTurn, groupOf, turnOffsets }: TrajectoryBatch) {
  const inCycle = cyclesOf(parentOf);
  const trunkOf = trunksIn(parentOf.length).fill(-1);
  const sharedOf = sharedIn(parentOf.length).fill(0);
  let [absent, foreign, cyclic, tooFar, ownless, followed] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < parentOf.length; i++) {
    const parent = parentOf[i];
    if (parent < 0) {
      if (parentTurn[i] >= 0) absent++;
    } else if (groupOf[parent] !== groupOf[i]) foreign++;
    else if (inCycle[i] === 1) cyclic++;
    else {
      followed++;
      trunkOf[i] = parent;
      const turns = turnOffsets[i + 1] - turnOffsets[i];
      const turnsOfTrunk = turnOffsets[parent + 1] - turnOffsets[parent];
      if (parentTurn[i] >= turnsOfTrunk) tooFar++;
      if (turns > 0 && parentTurn[i] + 1 >= turns) ownless++;
      sharedOf[i] = Math.min(parentTurn[i] + 1, turnsOfTrunk, turns);
    }
  }
  const of = ids.length;
  const warnings = [
    ...(followed > 0 || of === 0 ? [] : ['no trajectory branches off another one']),
    ...counted(absent, of, 'trajectories whose parent is not among those of this training step'),
    ...counted(foreign, of, 'trajectories whose parent is of another group'),
    ...counted(cyclic, of, 'trajectories whose parents lead in a circle'),
    ...counted(tooFar, of, 'branches that share turns which their parent does not have'),
    ...counted(ownless, of, 'branches without a turn of their own: a branch lists the turns it shares and its own'),
  ];
  return { trunkOf, sharedOf, warnings };
}

const counted = (count: number, of: number, what: string) => (count > 0 ? [`${what}: ${count} of ${of}`] : []);

/** Which trajectories are among their own ancestors. */
function cyclesOf(parentOf: Int32Array): Int32Array {
  const inCycle = cyclesIn(parentOf.length).fill(0);
  const walkOf = walksIn(parentOf.length).fill(-1);
  for (let start = 0; start < parentOf.length; start++) {
    let i = start;
    while (i >= 0 && walkOf[i] < 0) {
      walkOf[i] = start;
      i = parentOf[i];
    }
    if (i < 0 || walkOf[i] !== start) continue;
    for (let k = i; inCycle[k] === 0; k = parentOf[k]) inCycle[k] = 1;
  }
  return inCycle;
}

/** Every trajectory, after the one it branches off. */
function trunksFirst(trunkOf: Int32Array): Int32Array {
  const order = orderIn(trunkOf.length);
  const isPlaced = placedIn(trunkOf.length).fill(0);
  const path = pathIn(trunkOf.length);
  let placed = 0;
  for (let start = 0; start < trunkOf.length; start++) {
    let length = 0;
    for (let i = start; i >= 0 && isPlaced[i] === 0; i = trunkOf[i]) path[length++] = i;
    while (length > 0) {
      const i = path[--length];
      isPlaced[i] = 1;
      order[placed++] = i;
    }
  }
  return order;
}

/**
 * Mean outcome below every node.
 *
 *     over leaves:    V(n) = Σ_{leaves l below n} R_l / L(n)
 *     over children:  v(n) = mean of v over the direct children; a trajectory that ended here is one of them
 *
 * A leaf is the end of a trajectory that has an outcome. Where all agree the mean is that value itself, so a difference
 * of means is exactly 0.
 *
 * @param outcome [trajectories] NaN: no leaf
 * @returns mean [nodes] NaN: nothing below; leaves [nodes]
 */
export function nodeMeans(
  { nodeCount, parentNode, endNode }: Pick<TrajectoryTree, 'nodeCount' | 'parentNode' | 'endNode'>,
  outcome: NumericValues,
  over: 'leaves' | 'children',
) {
  const mean = new Float64Array(nodeCount).fill(NaN);
  const leaves = new Float64Array(nodeCount);
  const count = new Float64Array(nodeCount);
  const sum = new Float64Array(nodeCount);
  const min = new Float64Array(nodeCount).fill(Infinity);
  const max = new Float64Array(nodeCount).fill(-Infinity);
  const add = (node: number, times: number, total: number, least: number, most: number) => {
    count[node] += times;
    sum[node] += total;
    if (least < min[node]) min[node] = least;
    if (most > max[node]) max[node] = most;
  };
  for (let i = 0; i < endNode.length; i++) {
    if (Number.isNaN(outcome[i])) continue;
    leaves[endNode[i]]++;
    add(endNode[i], 1, outcome[i], outcome[i], outcome[i]);
  }
  for (let n = nodeCount - 1; n >= 0; n--) {
    if (count[n] === 0) continue;
    mean[n] = allEqual(min[n], max[n]) ? max[n] : sum[n] / count[n];
    const parent = parentNode[n];
    if (parent < 0) continue;
    leaves[parent] += leaves[n];
    if (over === 'leaves') add(parent, count[n], sum[n], min[n], max[n]);
    else add(parent, 1, mean[n], mean[n], mean[n]);
  }
  return { mean, leaves };
}

/**
 * What a turn changed: the value of the node it leads to, less that of the node it left.
 *
 * @param value [nodes]
 * @returns [nodes] NaN: a prompt, or nothing below
 */
export function gains({ parentNode }: Pick<TrajectoryTree, 'parentNode'>, value: Float64Array): Float64Array {
  return value.map((v, n) => (parentNode[n] < 0 ? NaN : v - value[parentNode[n]]));
}

/** [turns] a number per node on every turn that leads there: a shared turn has it on each of its paths. */
export function onTurns({ nodeOf }: Pick<TrajectoryTree, 'nodeOf'>, perNode: Float64Array): Float64Array {
  return Float64Array.from(nodeOf, (node) => perNode[node]);
}

/** [nodes] the prompt that each node hangs on, which is the number of its group. */
export function promptOf({ parentNode }: Pick<TrajectoryTree, 'parentNode'>): Int32Array {
  const prompt = Int32Array.from(parentNode, (_, n) => n);
  for (let n = 0; n < prompt.length; n++) if (parentNode[n] >= 0) prompt[n] = prompt[parentNode[n]];
  return prompt;
}

/** Why a turn has no credit whose node has no leaf below it. */
export const NO_LEAF = 'no trajectory below has an outcome';
