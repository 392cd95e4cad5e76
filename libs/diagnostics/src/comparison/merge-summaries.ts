import { mergeProfiles } from './credit-profile.js';
import { mergeTruths } from './credit-vs-truth.js';
import { joinCandidates, NO_CANDIDATES } from './disputes.js';
import { mergeAgreements } from './estimator-agreement.js';
import { mergeOutcomes, NO_OUTCOMES } from './learning-signal.js';
import { emptySample, joinSamples } from './sample.js';
import type { ShardSummary } from './shard-summary.js';
import { addSums, mergeEntries } from './sums.js';

/** The summary of no shard. */
export const NO_SUMMARY: ShardSummary = {
  topK: 2 ** 31 - 1,
  outcomes: NO_OUTCOMES,
  profiles: [],
  pairs: [],
  truths: [],
  stability: [],
  sample: emptySample(1),
  candidates: NO_CANDIDATES,
};

/**
 * The summary of disjoint sets of groups taken together, from left to right. Estimators that only some of them have are
 * kept; the lowest sample rate and the lowest topK hold for all.
 *
 * Any order and any nesting gives the same numbers up to rounding. For the same bits give the shards in the same order:
 * that of (run, trainingStep).
 */
export function mergeSummaries(...summaries: readonly ShardSummary[]): ShardSummary {
  const [first, ...others] = summaries;
  if (!first) return NO_SUMMARY;
  const topK = summaries.reduce((least, summary) => Math.min(least, summary.topK), Infinity);
  const sums = others.reduce(
    (a, b) => ({
      outcomes: mergeOutcomes(a.outcomes, b.outcomes),
      profiles: mergeEntries(a.profiles, b.profiles, mergeProfiles),
      pairs: mergeEntries(a.pairs, b.pairs, mergeAgreements),
      truths: mergeEntries(a.truths, b.truths, mergeTruths),
      stability: mergeEntries(a.stability, b.stability, addSums),
    }),
    first as Pick<ShardSummary, 'outcomes' | 'profiles' | 'pairs' | 'truths' | 'stability'>,
  );
  return {
    topK,
    outcomes: sums.outcomes,
    profiles: sums.profiles,
    pairs: sums.pairs,
    truths: sums.truths,
    stability: sums.stability,
    sample: joinSamples(summaries.map((summary) => summary.sample)),
    candidates: joinCandidates(
      summaries.map((summary) => summary.candidates),
      sums.pairs,
      topK,
    ),
  };
}
