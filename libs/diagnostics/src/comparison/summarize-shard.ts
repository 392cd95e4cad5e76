import type { TrajectoryBatch } from '#lib/dataset';
import { profileSums } from './credit-profile.js';
import { truthSums } from './credit-vs-truth.js';
import { candidatesOf } from './disputes.js';
import { agreementSums } from './estimator-agreement.js';
import { outcomeSums } from './learning-signal.js';
import { sampleOf } from './sample.js';
import type { ShardSummary } from './shard-summary.js';
import type { StabilitySums } from './stability.js';
import { pairName, pairsOf, sortedEntries } from './sums.js';

export interface ShardToSummarize {
  readonly run: string;
  /** whole groups: a group that two shards share would be counted twice */
  readonly trajectories: TrajectoryBatch;
  /** per estimator [turns] NaN: nothing said */
  readonly credits: ReadonlyMap<string, Float64Array>;
  /** per signal that may serve as a truth [turns] NaN: not said */
  readonly truths: ReadonlyMap<string, Float64Array>;
  /** per estimator, where it was measured */
  readonly stability?: ReadonlyMap<string, StabilitySums>;
  /** share of the trajectories kept for rank statistics, the same for every shard of an analysis; 1: all */
  readonly sampleRate: number;
  /** disputed turns to show, per pair and overall */
  readonly topK: number;
}

/** Everything a comparison will need of one shard. Pure, no object per turn. */
export function summarizeShard(shard: ShardToSummarize): ShardSummary {
  const { run, trajectories, sampleRate, topK } = shard;
  const credits = sortedEntries(shard.credits);
  const truths = sortedEntries(shard.truths);
  const turns = trajectories.stateKey.length;
  for (const [name, column] of [...credits, ...truths]) {
    if (column.length !== turns) throw new RangeError(`${name}: expected ${turns} turns, found ${column.length}`);
  }

  const pairs = pairsOf(credits).map(
    ([[a, left], [b, right]]) => [pairName(a, b), agreementSums(left, right)] as const,
  );
  const against = truths.flatMap(([signal, truth]) =>
    credits.map(([name, credit]) => [pairName(signal, name), truthSums(trajectories, credit, truth)] as const),
  );
  return {
    topK,
    outcomes: outcomeSums(trajectories),
    profiles: credits.map(([name, credit]) => [name, profileSums(trajectories, credit)] as const),
    pairs: sortedEntries(pairs),
    truths: sortedEntries(against),
    stability: sortedEntries(shard.stability ?? []),
    sample: sampleOf(run, trajectories, credits, truths, sampleRate),
    candidates: candidatesOf(run, trajectories, credits, pairs, topK),
  };
}
