import { BOOTSTRAP, bootstrap, type BootstrapOptions } from './bootstrap.js';
import { creditProfile, type CreditProfile } from './credit-profile.js';
import { truthAgreement, type TruthAgreement } from './credit-vs-truth.js';
import { disputedTurns, pairSpreads, type DisputedTurn } from './disputes.js';
import { estimatorAgreement, rankAgreement, rankedColumn, type EstimatorAgreement } from './estimator-agreement.js';
import { learningSignal, type LearningSignal } from './learning-signal.js';
import type { ShardSummary } from './shard-summary.js';
import { namesOf } from './sums.js';

/** Several credits of the same turns side by side. Null: undefined, and `reasons` of the same row says why. */
export interface Comparison extends LearningSignal {
  readonly sample: SampleSize;
  readonly bootstrap: { readonly level: number; readonly resamples: number; readonly groups: number };
  readonly estimators: readonly CreditProfile[];
  readonly pairs: readonly (EstimatorAgreement & { readonly disputed: readonly DisputedTurn[] })[];
  readonly truths: readonly TruthAgreement[];
  /** each turn once, by the pair that disputes it most */
  readonly disputed: readonly DisputedTurn[];
}

/** What rank statistics and intervals rest on; all else is exact. */
export interface SampleSize {
  readonly sampled: boolean;
  readonly rate: number;
  readonly trajectories: number;
  readonly turns: number;
  readonly ofTrajectories: number;
  readonly ofTurns: number;
}

/** The comparison of all that a summary has seen. The same summary gives the same bits. */
export function comparisonOf(summary: ShardSummary, options: Partial<BootstrapOptions> = {}): Comparison {
  const { sample, outcomes, profiles, pairs, truths, candidates, topK } = summary;
  const { trajectories, turns } = outcomes.counts;
  const ranked = new Map(sample.credits.map(([name, column]) => [name, rankedColumn(column)]));
  const sampled = bootstrap(sample, { ...BOOTSTRAP, ...options });
  const disputed = disputedTurns(candidates, pairSpreads(pairs), topK);
  const disputedBy = new Map(disputed.byPair);
  const inSample = sample.place.length;
  return {
    ...learningSignal(outcomes),
    sample: {
      sampled: inSample < trajectories,
      rate: Math.min(1, sample.rate),
      trajectories: inSample,
      turns: sample.turnOffsets[inSample],
      ofTrajectories: trajectories,
      ofTurns: turns,
    },
    bootstrap: { level: 0.9, resamples: sampled.resamples, groups: sampled.groups },
    estimators: profiles.map(([name, sums]) => creditProfile(name, sums)),
    pairs: pairs.map(([pair, sums]) => {
      const [left, right] = namesOf(pair).map((name) => ranked.get(name)!);
      return { ...estimatorAgreement(pair, sums, rankAgreement(left, right)), disputed: disputedBy.get(pair)! };
    }),
    truths: truths.map(([pair, sums]) => truthAgreement(pair, sums, sampled.cells.get(pair)!)),
    disputed: disputed.overall,
  };
}
