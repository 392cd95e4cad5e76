import type { Truth } from './queries.js';

/** A number against a truth with its 90 % interval. */
export interface Estimate {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** As docs/comparison.md has it. */
interface TruthDetail {
  readonly isLabel?: boolean;
  readonly firstErrorHit?: number | null;
  readonly firstErrorChance?: number | null;
  readonly aucMixedGroups?: number | null;
  readonly intervals?: Readonly<Record<string, { readonly low: number | null; readonly high: number | null }>>;
}

export type Measure = 'withinTrajectoryPairAccuracy' | 'auc' | 'aucMixedGroups' | 'spearman' | 'firstErrorHit';

const detailOf = ({ detail }: Pick<Truth, 'detail'>) => (detail ?? {}) as TruthDetail;

/** Of a comparison that is older than the number, or undefined, there is none. */
export function estimateOf(truth: Truth | undefined, measure: Measure): Estimate {
  if (!truth) return { value: null, low: null, high: null };
  const detail = detailOf(truth);
  const value = measure === 'firstErrorHit' || measure === 'aucMixedGroups' ? detail[measure] : truth[measure];
  const { low = null, high = null } = detail.intervals?.[measure] ?? {};
  return { value: value ?? null, low, high };
}

/** What a guess would find. */
export function firstErrorChance(truth: Truth | undefined): number | null {
  return (truth && detailOf(truth).firstErrorChance) ?? null;
}

/** Whether all values of the truth are -1, 0 or 1. */
export function isLabel(truths: readonly Truth[], signal: string): boolean {
  return truths.some((truth) => truth.signal === signal && detailOf(truth).isLabel === true);
}

/** The truth to show: the one that is asked for, else the first that was measured, an exact one before labels. */
export function chosenTruth(truths: readonly Truth[], asked: string | undefined): string | null {
  const signals = new Set(truths.filter(({ n }) => n > 0).map(({ signal }) => signal));
  if (asked !== undefined && signals.has(asked)) return asked;
  return ['exactAdvantage', 'humanLabel'].find((signal) => signals.has(signal)) ?? [...signals][0] ?? null;
}
