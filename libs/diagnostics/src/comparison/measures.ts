/** The numbers against a truth that get a bootstrap interval. */
export const MEASURES = [
  'spearman',
  'auc',
  'aucHarmful',
  'aucUseful',
  'pearson',
  'withinTrajectoryPairAccuracy',
  'firstErrorHit',
  'firstErrorWithinOne',
  'aucMixedGroups',
] as const;

export type Measure = (typeof MEASURES)[number];

/** A 90 % interval; NaN: there is none. */
export type Interval = readonly [low: number, high: number];
