import type { AgreementSums } from './estimator-agreement.js';
import type { ProfileSums } from './credit-profile.js';
import type { TruthSums } from './credit-vs-truth.js';
import type { Candidates } from './disputes.js';
import type { OutcomeSums } from './learning-signal.js';
import type { Sample } from './sample.js';
import type { StabilitySums } from './stability.js';
import type { Entries } from './sums.js';

/**
 * What a comparison needs to know of some whole groups: a shard, several shards, or all of an analysis. Plain numbers,
 * texts and typed arrays.
 */
export interface ShardSummary {
  /** disputed turns that will be shown */
  readonly topK: number;
  readonly outcomes: OutcomeSums;
  /** by estimator */
  readonly profiles: Entries<ProfileSums>;
  /** by pairName(estimator, estimator), the alphabetically first one left */
  readonly pairs: Entries<AgreementSums>;
  /** by pairName(truth, estimator) */
  readonly truths: Entries<TruthSums>;
  /** by estimator, where it was measured */
  readonly stability: Entries<StabilitySums>;
  readonly sample: Sample;
  readonly candidates: Candidates;
}
