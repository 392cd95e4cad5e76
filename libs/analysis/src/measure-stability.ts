import {
  batchWithout,
  jackknifeStability,
  leaveGroupsOut,
  leaveOneTrajectoryOut,
  stabilitySums,
  type JackknifeRound,
  type StabilitySums,
} from '#lib/diagnostics';
import type { TrajectoryBatch } from '#lib/dataset';
import { hashUnit } from '#lib/numeric';

/** Turns of a shard that are credited again, where trajectories are left out: more groups than that are sampled. */
const TURN_VISITS = 8_192;
/** The same where groups are left out, which copies the whole shard ten times: larger ones, with their tokens, are sampled. */
const BLOCK_VISITS = 131_072;
const TOKENS_LIKE_A_TURN = 16;
const BLOCKS = 10;
/** A group has at most that many members, or is left aside: it would be credited as often. */
const LARGEST_GROUP = 64;
const ZERO_TOLERANCE = 1e-8;

export interface ShardToMeasure {
  readonly run: string;
  readonly trajectories: TrajectoryBatch;
  /** share of the analysis that rank statistics keep; no more than that is measured */
  readonly sampleRate: number;
}

/** Some trajectories of a shard, and what is left of them in each round. */
interface Part {
  readonly trajectories: TrajectoryBatch;
  /** [trajectories] rows of the shard */
  readonly rows: readonly number[];
  readonly rounds: () => { readonly left: readonly JackknifeRound[]; readonly batches: readonly TrajectoryBatch[] };
}

/** The estimator: [turns] of the batch that it is given; null: it says nothing about that batch. */
export type CreditOf = (trajectories: TrajectoryBatch) => Promise<Float64Array | null>;

/** @param credit [turns] of the shard */
type StabilityOf = (credit: Float64Array, creditOf: CreditOf) => Promise<StabilitySums | null>;

/**
 * How far estimators' credit hangs on who else was there: on groups chosen by the hash of their names, so that it is the
 * same every time. Whether an estimator judges a group by itself is found out by asking it about some groups alone.
 *
 * @returns of an estimator, with its credit of the shard's [turns]; null where nothing was chosen, or it says nothing when
 *   somebody is left out
 */
export function stabilityOf(shard: ShardToMeasure): StabilityOf {
  const { run, trajectories, sampleRate } = shard;
  const { groupCount } = trajectories;
  const chosen = chosenGroups(shard);
  const turns = trajectories.stateKey.length;
  const copied = BLOCKS * (turns + trajectories.tokenOffsets[turns] / TOKENS_LIKE_A_TURN);
  const step = trajectories.trainingStep[0] ?? 0;
  const takesAll = hashUnit(`${run}\n${step}`) < sampleRate * Math.min(1, BLOCK_VISITS / copied);
  // the usual case in a large analysis: nothing is cut out of the shard
  if (chosen.size === 0 && !takesAll) return async () => null;
  const some = partOf(trajectories, chosen, leaveOneTrajectoryOut);
  const all = partOf(trajectories, new Set(Array.from({ length: groupCount }, (_, group) => group)), leaveGroupsOut);
  const half = new Set(Array.from({ length: groupCount >> 1 }, (_, group) => group));
  const alone = chosen.size > 0 && chosen.size < groupCount ? some : partOf(trajectories, half, leaveOneTrajectoryOut);

  return async (credit, creditOf) => {
    if (!some && !takesAll) return null;
    const saidAlone = alone && (await creditOf(alone.trajectories));
    if (alone && !saidAlone) return null;
    const acrossGroups = alone !== null && !areEqual(saidAlone!, creditIn(alone));
    const part = acrossGroups ? (takesAll ? all : null) : some;
    if (!part) return null;
    const { left, batches } = part.rounds();
    const reduced: Float64Array[] = [];
    for (const batch of batches) {
      const said = await creditOf(batch);
      if (!said) return null;
      reduced.push(said);
    }
    const found = jackknifeStability(part.trajectories, creditIn(part), left, reduced, {
      zeroTolerance: ZERO_TOLERANCE,
    });
    return stabilitySums(found, { acrossGroups });

    /** [turns of the part] */
    function creditIn({ trajectories: { stateKey }, rows }: Part): Float64Array {
      const own = new Float64Array(stateKey.length);
      let at = 0;
      for (const row of rows) {
        const ofRow = credit.subarray(trajectories.turnOffsets[row], trajectories.turnOffsets[row + 1]);
        own.set(ofRow, at);
        at += ofRow.length;
      }
      return own;
    }
  };
}

/** The groups that are looked at, as many as may be visited. */
function chosenGroups({ run, trajectories, sampleRate }: ShardToMeasure): ReadonlySet<number> {
  const { groups, groupOf, groupCount, turnOffsets, trainingStep } = trajectories;
  const members = new Int32Array(groupCount);
  const turns = new Int32Array(groupCount);
  const step = new Int32Array(groupCount);
  groupOf.forEach((group, row) => {
    members[group]++;
    turns[group] += turnOffsets[row + 1] - turnOffsets[row];
    step[group] = trainingStep[row];
  });
  const fit = [...groups.keys()].filter((group) => members[group] >= 3 && members[group] <= LARGEST_GROUP);
  const visits = fit.reduce((sum, group) => sum + members[group] * turns[group], 0);
  const rate = sampleRate * Math.min(1, TURN_VISITS / visits);
  return new Set(fit.filter((group) => hashUnit(`${run}\n${step[group]}\n${groups[group]}`) < rate));
}

/** The trajectories of some groups; null for no group. What the rounds leave is put together once, when first asked for. */
function partOf(
  whole: TrajectoryBatch,
  groups: ReadonlySet<number>,
  roundsOf: (trajectories: TrajectoryBatch) => JackknifeRound[],
): Part | null {
  if (groups.size === 0) return null;
  const rows = [...whole.groupOf.keys()].filter((row) => groups.has(whole.groupOf[row]));
  const left = new Set([...whole.groupOf.keys()].filter((row) => !groups.has(whole.groupOf[row])));
  const trajectories = left.size === 0 ? whole : batchWithout(whole, { left });
  let rounds: ReturnType<Part['rounds']> | null = null;
  return {
    trajectories,
    rows,
    rounds: () => {
      if (rounds) return rounds;
      const all = roundsOf(trajectories);
      return (rounds = { left: all, batches: all.map((round) => batchWithout(trajectories, round)) });
    },
  };
}

/** But for rounding. */
function areEqual(a: Float64Array, b: Float64Array): boolean {
  return a.every((value, t) => Object.is(value, b[t]) || Math.abs(value - b[t]) <= 1e-9 * Math.max(1, Math.abs(value)));
}
