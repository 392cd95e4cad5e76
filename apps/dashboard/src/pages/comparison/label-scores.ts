import type { Annotators } from './queries.js';
import type { Estimate } from './truth-measures.js';

/** What is measured against labels, the pairs of a trajectory first. */
export const SCORES = ['withinTrajectoryPairAccuracy', 'auc', 'spearman', 'firstErrorHit'] as const;
export type Score = (typeof SCORES)[number];

type Scored = Annotators['estimators'][number];

const UNKNOWN: Estimate = { value: null, low: null, high: null };

/** A score with its 90 % interval. */
export function scoreOf(scores: Scored['consensus'], score: Score): Estimate {
  const intervals = scores.intervals as Readonly<Record<string, Pick<Estimate, 'low' | 'high'> | undefined>>;
  return { ...UNKNOWN, ...intervals[score], value: scores[score] };
}

/** The same where the labels of one annotator do not count. */
export function scoreWithout({ without }: Scored, annotator: string, score: Score): Estimate {
  const scores = without.find((one) => one.annotator === annotator);
  return scores ? scoreOf(scores, score) : UNKNOWN;
}

export function spreadOf({ spread }: Scored, score: Score): number | null {
  return (spread as Readonly<Record<string, number | null>>)[score] ?? null;
}
