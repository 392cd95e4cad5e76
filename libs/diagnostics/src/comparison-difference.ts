import { canonicalJson } from '#lib/kernel';
import type { Comparison } from './comparison/comparison.js';
import { MEASURES } from './comparison/measures.js';

/** A finished analysis, as far as it matters for holding it against another one. */
export interface ComparedAnalysis {
  readonly comparison: Comparison;
  /** ids */
  readonly runs: readonly string[];
  readonly estimators: readonly {
    readonly label: string;
    readonly id: string;
    readonly version: number;
    readonly hash?: string | null;
    readonly params: unknown;
  }[];
}

/** A number in both analyses. Null: not defined there. */
export interface NumberDifference {
  readonly number: string;
  readonly first: number | null;
  readonly second: number | null;
  /** second − first */
  readonly difference: number | null;
  /** of the difference, 90 %; null where either has no interval, and where the analyses share a run */
  readonly low: number | null;
  readonly high: number | null;
}

/** The same estimators over two sets of runs. */
export interface ComparisonDifference {
  readonly outcomes: readonly NumberDifference[];
  readonly estimators: readonly {
    readonly estimator: string;
    /** what else differs between them than the runs: the version, the params */
    readonly differsIn: readonly string[];
    readonly numbers: readonly NumberDifference[];
  }[];
  readonly truths: readonly {
    readonly signal: string;
    readonly estimator: string;
    readonly numbers: readonly NumberDifference[];
  }[];
  /** labels of estimators that the other one does not have */
  readonly onlyFirst: readonly string[];
  readonly onlySecond: readonly string[];
  /** they have a run in common, so their numbers are no independent samples */
  readonly shareRuns: boolean;
}

const OUTCOMES = ['meanOutcome', 'successRate', 'groupFraction', 'silentTurnShare'] as const;
const PROFILE = [
  'signalDensity',
  'mean',
  'std',
  'withinTrajectoryShare',
  'gini',
  'effectiveTurns',
  'topShare',
  'lastShare',
] as const;

interface Limits {
  readonly low: number | null;
  readonly high: number | null;
}

/**
 * Holds two analyses against each other, number by number, for the estimators that both have under one label.
 *
 *     difference = second − first
 *     its interval ± h, h² = ((high₁ − low₁) / 2)² + ((high₂ − low₂) / 2)²
 *
 * That is the interval of a difference of two independent numbers about normally distributed; the intervals of each are
 * bootstraps over groups.
 */
export function comparisonDifference(first: ComparedAnalysis, second: ComparedAnalysis): ComparisonDifference {
  const shareRuns = first.runs.some((run) => second.runs.includes(run));
  const labels = first.estimators.map(({ label }) => label);
  const secondLabels = second.estimators.map(({ label }) => label);
  const common = labels.filter((label) => secondLabels.includes(label));
  const [a, b] = [first.comparison, second.comparison];
  return {
    outcomes: OUTCOMES.map((number) => differenceOf(number, a[number], b[number])),
    estimators: common.flatMap((estimator) => {
      const [one, other] = [a, b].map(({ estimators }) => estimators.find(({ id }) => id === estimator));
      if (!one || !other) return [];
      const numbers = PROFILE.map((number) => differenceOf(number, one[number], other[number]));
      return [{ estimator, differsIn: differencesOf(estimator, first, second), numbers }];
    }),
    truths: a.truths
      .filter(({ estimator }) => common.includes(estimator))
      .toSorted((x, y) => common.indexOf(x.estimator) - common.indexOf(y.estimator))
      .flatMap((one) => {
        const { signal, estimator } = one;
        const other = b.truths.find((row) => row.signal === signal && row.estimator === estimator);
        if (!other) return [];
        const numbers = MEASURES.map((number) =>
          differenceOf(
            number,
            one[number],
            other[number],
            // comparisons that were stored before there was the number do not have it
            ...(shareRuns
              ? []
              : [one.intervals[number] as Limits | undefined, other.intervals[number] as Limits | undefined]),
          ),
        );
        return [{ signal, estimator, numbers }];
      }),
    onlyFirst: labels.filter((label) => !common.includes(label)),
    onlySecond: secondLabels.filter((label) => !common.includes(label)),
    shareRuns,
  };
}

function differenceOf(
  number: string,
  first: number | null | undefined,
  second: number | null | undefined,
  one?: Limits,
  other?: Limits,
): NumberDifference {
  const [a, b] = [first ?? null, second ?? null];
  const difference = a === null || b === null ? null : b - a;
  const [half, otherHalf] = [halfWidth(one), halfWidth(other)];
  const around = difference === null || half === null || otherHalf === null ? null : Math.hypot(half, otherHalf);
  return {
    number,
    first: a,
    second: b,
    difference,
    low: around === null ? null : difference! - around,
    high: around === null ? null : difference! + around,
  };
}

function halfWidth(limits: Limits | undefined): number | null {
  return limits?.low == null || limits.high === null ? null : (limits.high - limits.low) / 2;
}

function differencesOf(label: string, ...analyses: readonly ComparedAnalysis[]): string[] {
  const [one, other] = analyses.map(({ estimators }) => estimators.find((estimator) => estimator.label === label)!);
  return [
    ...(one.id === other.id ? [] : ['id']),
    ...(one.version === other.version && (one.hash ?? null) === (other.hash ?? null) ? [] : ['version']),
    ...(canonicalJson(one.params) === canonicalJson(other.params) ? [] : ['params']),
  ];
}
