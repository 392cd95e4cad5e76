import type { Comparison } from './comparison/comparison.js';
import type { TruthAgreement } from './comparison/credit-vs-truth.js';

/** The truth that a table measures against when the caller names none, if it is there. */
const PREFERRED_TRUTHS = ['exactAdvantage', 'humanLabel'];

/** One estimator of a table: what it says, and how it agrees with the truth. Null: undefined, or no truth. */
export interface ComparisonRow {
  readonly estimator: string;
  readonly turns: number;
  readonly signalDensity: number | null;
  readonly groups: number;
  readonly groupsWithSignal: number;
  readonly mean: number | null;
  readonly std: number | null;
  readonly withinTrajectoryShare: number | null;
  readonly lastShare: number | null;
  readonly spearman: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly auc: number | null;
  readonly withinTrajectoryPairAccuracy: number | null;
  /** all that is known of it against the truth, intervals included */
  readonly against: TruthAgreement | null;
}

export interface ComparisonTable {
  /** the signal behind spearman, auc and the pair accuracy; null: there is none */
  readonly truth: string | null;
  /** the truth is labels −1, 0, 1 */
  readonly isLabel: boolean;
  /**
   * best Spearman's correlation with the truth first, of labels the most pairs in order; those without one last by name
   */
  readonly rows: readonly ComparisonRow[];
  /** [rows × rows] how each pair agrees; on the diagonal what an estimator has with itself */
  readonly agreement: readonly (readonly (number | null)[])[];
}

/** What a pair of estimators can be asked. */
const MEASURES = {
  pearson: ({ pearson }) => pearson,
  spearman: ({ spearman }) => spearman,
  signAgreement: ({ signAgreement }) => signAgreement,
  weightedSignAgreement: ({ weightedSignAgreement }) => weightedSignAgreement,
  topOverlap: ({ topOverlap }) => topOverlap,
  /** share of the turns of which both speak that they judge with opposite signs */
  flipShare: ({ flipCount, n }) => (n > 0 ? flipCount / n : null),
  gradientCosine: ({ gradientCosine = null }) => gradientCosine,
} satisfies Record<string, (pair: Comparison['pairs'][number]) => number | null>;

export type AgreementMeasure = keyof typeof MEASURES;

/** The numbers of a comparison as a table shows them; how they look is the caller's business. */
export function comparisonTable(
  comparison: Comparison,
  {
    truth = preferredTruth(comparison),
    measure = 'spearman',
  }: { truth?: string | null; measure?: AgreementMeasure } = {},
): ComparisonTable {
  const rows = comparison.estimators.map((estimator) => rowOf(comparison, estimator, truth));
  const isLabel = rows.some((row) => row.against?.isLabel);
  rows.sort(by(isLabel ? 'withinTrajectoryPairAccuracy' : 'spearman'));
  const agreement = new Map(
    comparison.pairs.flatMap((pair) => [
      [`${pair.a}\n${pair.b}`, MEASURES[measure](pair)] as const,
      [`${pair.b}\n${pair.a}`, MEASURES[measure](pair)] as const,
    ]),
  );
  const itself = measure === 'flipShare' ? 0 : 1;
  const between = (a: string, b: string) => (a === b ? itself : (agreement.get(`${a}\n${b}`) ?? null));
  return {
    truth,
    isLabel,
    rows,
    agreement: rows.map(({ estimator: a }) => rows.map(({ estimator: b }) => between(a, b))),
  };
}

function preferredTruth({ truths }: Comparison): string | null {
  const said = new Set(truths.filter(({ n }) => n > 0).map(({ signal }) => signal));
  return PREFERRED_TRUTHS.find((signal) => said.has(signal)) ?? [...said][0] ?? null;
}

function rowOf(
  comparison: Comparison,
  estimator: Comparison['estimators'][number],
  truth: string | null,
): ComparisonRow {
  const found = comparison.truths.find((row) => row.signal === truth && row.estimator === estimator.id);
  return {
    estimator: estimator.id,
    turns: estimator.turns,
    signalDensity: estimator.signalDensity,
    groups: estimator.groups,
    groupsWithSignal: estimator.groupsWithSignal,
    mean: estimator.mean,
    std: estimator.std,
    withinTrajectoryShare: estimator.withinTrajectoryShare,
    lastShare: estimator.lastShare,
    spearman: found?.spearman ?? null,
    low: found?.low ?? null,
    high: found?.high ?? null,
    auc: found?.auc ?? null,
    withinTrajectoryPairAccuracy: found?.withinTrajectoryPairAccuracy ?? null,
    against: found ?? null,
  };
}

function by(measure: 'spearman' | 'withinTrajectoryPairAccuracy') {
  return (a: ComparisonRow, b: ComparisonRow): number => {
    // Below every number there can be.
    const difference = (b[measure] ?? -2) - (a[measure] ?? -2);
    return difference || (a.estimator < b.estimator ? -1 : 1);
  };
}
