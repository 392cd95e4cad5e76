import { annotatorDependence, type AnnotatorDependence } from './annotators.js';
import { BOOTSTRAP, bootstrap, type BootstrapOptions } from './bootstrap.js';
import { creditProfile, type CreditProfile } from './credit-profile.js';
import { truthAgreement, type TruthAgreement } from './credit-vs-truth.js';
import { disputedTurns, pairSpreads, type DisputedTurn } from './disputes.js';
import { estimatorAgreement, rankAgreement, rankedColumn, type EstimatorAgreement } from './estimator-agreement.js';
import { gradientCosine, gradientPush } from './gradient.js';
import { learningSignal, type LearningSignal } from './learning-signal.js';
import type { ShardSummary } from './shard-summary.js';
import { creditStability, NO_STABILITY, type CreditStability } from './stability.js';
import { namesOf, withReasons, type Entries } from './sums.js';
import { tagAgreements, type TagAgreement } from './tag-agreement.js';

/** Several credits of the same turns side by side. Null: undefined, and `reasons` of the same row says why. */
export interface Comparison extends LearningSignal {
  readonly sample: SampleSize;
  readonly bootstrap: { readonly level: number; readonly resamples: number; readonly groups: number };
  readonly estimators: readonly ComparedEstimator[];
  readonly pairs: readonly (EstimatorAgreement & Cosine & { readonly disputed: readonly DisputedTurn[] })[];
  readonly truths: readonly (TruthAgreement & Cosine)[];
  /** by every text signal of trajectories; not there in comparisons that are older than it */
  readonly tags?: readonly TagAgreement[];
  /** by every signal that two or more annotators labelled turns with; not there in comparisons that are older than it */
  readonly annotators?: readonly AnnotatorDependence[];
  /** each turn once, by the pair that disputes it most */
  readonly disputed: readonly DisputedTurn[];
}

/** What an estimator says of itself. What was added later is not there in older comparisons. */
export interface ComparedEstimator extends CreditProfile {
  readonly stability?: CreditStability;
  readonly gradient?: GradientEffect;
}

/** Which way an estimator pushes, over the turns of the sample whose gradient is known. */
export interface GradientEffect {
  /** what the lengths of gradients rest on; null: no log-probability was logged */
  readonly from: 'sumProbSquared' | 'logprob' | null;
  readonly turns: number;
  readonly push: number | null;
  readonly length: number | null;
  readonly reasons: Readonly<Record<string, string>>;
}

interface Cosine {
  /** of the angle between the gradients that both would give; null: undefined, or not logged */
  readonly gradientCosine?: number | null;
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
  const all = { ...BOOTSTRAP, ...options };
  const sampled = bootstrap(sample, all);
  const measured = new Map(summary.stability);
  const [credit, truth] = [new Map(sample.credits), new Map(sample.truths)];
  const gradient = gradientOf(sample.gradients);
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
    estimators: profiles.map(([name, sums]) => ({
      ...creditProfile(name, sums),
      stability: creditStability(measured.get(name) ?? NO_STABILITY),
      gradient: gradientEffect(credit.get(name)!, gradient),
    })),
    pairs: pairs.map(([pair, sums]) => {
      const [left, right] = namesOf(pair).map((name) => ranked.get(name)!);
      return {
        ...estimatorAgreement(pair, sums, rankAgreement(left, right)),
        gradientCosine: cosineOf(left.values, right.values, gradient),
        disputed: disputedBy.get(pair)!,
      };
    }),
    truths: truths.map(([pair, sums]) => {
      const [signal, name] = namesOf(pair);
      return {
        ...truthAgreement(pair, sums, sampled.cells.get(pair)!),
        gradientCosine: cosineOf(truth.get(signal)!, credit.get(name)!, gradient),
      };
    }),
    tags: tagAgreements(sample),
    annotators: annotatorDependence(sample, all),
    disputed: disputed.overall,
  };
}

type Gradient = readonly [from: string, weight: Float64Array] | undefined;

/** What says most of the gradient. */
function gradientOf(gradients: Entries<Float64Array>): Gradient {
  return gradients.find(([from]) => from === 'sumProbSquared') ?? gradients[0];
}

function gradientEffect(credit: Float64Array, gradient: Gradient): GradientEffect {
  const { turns, push, length } = gradient ? gradientPush(credit, gradient[1]) : { turns: 0, push: NaN, length: NaN };
  const none = gradient
    ? 'no turn of the sample has both credit and log-probabilities'
    : 'no `logprob` of tokens was logged';
  return {
    from: (gradient?.[0] ?? null) as GradientEffect['from'],
    turns,
    ...withReasons({ push: [push, turns > 0 ? 'nothing is pushed' : none], length: [turns > 0 ? length : NaN, none] }),
  };
}

function cosineOf(left: Float64Array, right: Float64Array, gradient: Gradient): number | null {
  const cosine = gradient ? gradientCosine(left, right, gradient[1]) : NaN;
  return Number.isFinite(cosine) ? cosine : null;
}
