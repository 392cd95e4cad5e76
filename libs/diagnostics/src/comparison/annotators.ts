import { majority } from '../annotators/majority.js';
import { bootstrap, type BootstrapOptions } from './bootstrap.js';
import { truthAgreement, truthSums, type TruthAgreement } from './credit-vs-truth.js';
import type { Sample } from './sample.js';
import { namesOf, pairName, type Entries } from './sums.js';

/** Annotators that are left out in turn: those with the most labels. */
const MAX_LEFT_OUT = 8;

/** Numbers against labels, one per estimator. */
const SCORES = ['withinTrajectoryPairAccuracy', 'auc', 'spearman', 'firstErrorHit'] as const;
type ScoreName = (typeof SCORES)[number];

export type LabelScore = Readonly<Record<ScoreName, number | null>> & {
  /** turns that have both */
  readonly n: number;
  readonly intervals: Readonly<Record<ScoreName, TruthAgreement['intervals'][ScoreName]>>;
};

/** How much an estimator's score hangs on who gave the labels. */
export interface AnnotatorDependence {
  readonly signal: string;
  /** those with the most labels first */
  readonly annotators: readonly { readonly annotator: string; readonly turns: number }[];
  readonly estimators: readonly {
    readonly estimator: string;
    /** against what most annotators say */
    readonly consensus: LabelScore;
    /** against what most of the others say */
    readonly without: readonly (LabelScore & { readonly annotator: string })[];
    /** the greatest less the least of `without`; null where fewer than two are defined */
    readonly spread: Readonly<Record<ScoreName, number | null>>;
  }[];
}

/**
 * Holds every estimator against the consensus of the annotators, and again with one annotator left out at a time: of the
 * sample, with its bootstrap over groups.
 *
 *     consensus(turn) = the label that most gave; none where two labels lead
 *
 * Signals that fewer than two annotators gave are left out.
 */
export function annotatorDependence(sample: Sample, options: BootstrapOptions): AnnotatorDependence[] {
  const bySignal = Map.groupBy(sample.labels, ([name]) => namesOf(name)[0]);
  return [...bySignal].flatMap(([signal, entries]) => {
    const raters = entries
      .map(([name, labels]) => ({ annotator: namesOf(name)[1], labels, turns: labels.filter(Number.isFinite).length }))
      .filter(({ turns }) => turns > 0)
      .sort((a, b) => b.turns - a.turns || (a.annotator < b.annotator ? -1 : 1));
    if (raters.length < 2) return [];
    const leftOut = raters.slice(0, MAX_LEFT_OUT);
    const votes = (of: typeof raters) => majority(of.map(({ labels }) => labels));
    const truths: Entries<Float64Array> = [
      ['', votes(raters)],
      ...leftOut.map(({ annotator }) => [annotator, votes(raters.filter((rater) => rater.annotator !== annotator))] as const), // prettier-ignore
    ];
    const scoreOf = scores({ ...sample, truths }, options);
    const estimators = sample.credits.map(([estimator]) => {
      const without = leftOut.map(({ annotator }) => ({ annotator, ...scoreOf(annotator, estimator) }));
      return { estimator, consensus: scoreOf('', estimator), without, spread: spreadOf(without) };
    });
    return [{ signal, annotators: raters.map(({ annotator, turns }) => ({ annotator, turns })), estimators }];
  });
}

function scores(sample: Sample, options: BootstrapOptions) {
  const { cells } = bootstrap(sample, options);
  const [credits, truths] = [new Map(sample.credits), new Map(sample.truths)];
  return (signal: string, estimator: string): LabelScore => {
    const pair = pairName(signal, estimator);
    const sums = truthSums(sample, credits.get(estimator)!, truths.get(signal)!);
    const { n, intervals, ...found } = truthAgreement(pair, sums, cells.get(pair)!);
    const picked = <Value>(of: Readonly<Record<ScoreName, Value>>) =>
      Object.fromEntries(SCORES.map((name) => [name, of[name]])) as Record<ScoreName, Value>;
    return { n, ...picked(found), intervals: picked(intervals) };
  };
}

function spreadOf(scores: readonly LabelScore[]): Record<ScoreName, number | null> {
  const spread = (name: ScoreName) => {
    const values = scores.map((score) => score[name]).filter((value) => value !== null);
    return values.length < 2 ? null : Math.max(...values) - Math.min(...values);
  };
  return Object.fromEntries(SCORES.map((name) => [name, spread(name)])) as Record<ScoreName, number | null>;
}
