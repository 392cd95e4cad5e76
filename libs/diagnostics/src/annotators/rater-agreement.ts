import { quantileOfSorted, seededRandom } from '#lib/numeric';
import { labelAgreement, labelCounts, type LabelCounts } from '../catalogue/label-agreement.js';
import { agentProcessBench, type LabelAgreement } from './agent-process-bench.js';
import { majority } from './majority.js';
import { firstErrorScores, type ProcessBench } from './process-bench.js';

/** One annotator's labels −1, 0, +1 under one signal. */
export interface Rater {
  readonly annotator: string;
  readonly signal: string;
  /** [turns] NaN: not labelled */
  readonly labels: Float64Array;
  /** [trajectories] 1: it was asked, and its judgement failed; none did if not said */
  readonly failed?: Uint8Array;
}

/** The scores of AgentProcessBench and ProcessBench of somebody against the reference, over what it was asked about. */
export interface RaterBenchmark extends LabelAgreement, Omit<ProcessBench, 'judgeFirstError'> {
  readonly byDataset: Readonly<Record<string, LabelAgreement>>;
}

/** How far two sets of labels agree, over the turns that have both. A number is null where it is not defined. */
export interface RaterAgreement {
  readonly turns: number;
  readonly trajectories: number;
  /** Cohen's κ, with a 90 % interval */
  readonly kappa: number | null;
  readonly kappaLow: number | null;
  readonly kappaHigh: number | null;
  /** share of the turns with the same label */
  readonly sameShare: number | null;
  /** share of the trajectories whose first −1 stands at the same turn; none on both sides is the same */
  readonly firstErrorShare: number | null;
  readonly macroF1: number | null;
  /** [labels of the one][labels of the other], −1, 0, +1 */
  readonly confusion: readonly (readonly number[])[];
}

export interface RaterSummary {
  readonly annotator: string;
  readonly signal: string;
  readonly turns: number;
  readonly trajectories: number;
  /** turns labelled −1, 0, +1 */
  readonly byLabel: readonly number[];
  /** against what most of the others say under the same signal (rows); null where there is no other */
  readonly others: RaterAgreement | null;
  /** against what most people say, itself left out; null where nobody else labelled what it did */
  readonly benchmark: RaterBenchmark | null;
}

export interface RaterReport {
  readonly raters: readonly RaterSummary[];
  /** of every two raters, as indices into `raters`; rows are the first one's labels */
  readonly pairs: readonly { readonly first: number; readonly second: number; readonly agreement: RaterAgreement }[];
}

const LABELS = [-1, 0, 1] as const;
/** The signal of people, which judges are held against. */
const REFERENCE = 'humanLabel';
const LEVEL = 0.9;
/** diagnostics.md, label-agreement. */
const RESAMPLES = 2000;
const LEAST_RESAMPLES = 200;
const LEAST_USABLE = 20;
const LEAST_USABLE_SHARE = 0.1;
const SEED = '13';
/** Trajectories that all resamples together may visit; it prefers a coarser interval to an answer that waits. */
const VISITS = 1e7;

/**
 * How far annotators agree: each with each, and each with the majority of the others (leave one annotator out).
 *
 *     others(turn) = the label that most of the other raters of the same signal gave; no label where two lead
 *     κ            = (p_o − p_e) / (1 − p_e), Cohen's, over the turns that both labelled; null where p_e = 1
 *
 * Intervals: percentile bootstrap over trajectories, whose turns hang together; none below two trajectories.
 *
 * @param turnOffsets [trajectories + 1]
 * @param dataset [trajectories] where each comes from; null: not said
 */
export function raterAgreement(
  turnOffsets: Int32Array,
  raters: readonly Rater[],
  dataset: readonly (string | null)[] = Array.from(turnOffsets.subarray(1), () => null),
): RaterReport {
  const comparisons = raters.length + (raters.length * (raters.length - 1)) / 2;
  const compare = (a: Float64Array, b: Float64Array) => agreementOf(turnOffsets, a, b, comparisons);
  return {
    raters: raters.map((rater) => {
      const others = raters.filter((other) => other !== rater && other.signal === rater.signal);
      const byLabel = LABELS.map((label) => rater.labels.filter((given) => given === label).length);
      const { annotator, signal, labels } = rater;
      return {
        annotator,
        signal,
        turns: byLabel.reduce((sum, turns) => sum + turns, 0),
        trajectories: labelCounts(turnOffsets, labels, labels).records,
        byLabel,
        others: others.length === 0 ? null : compare(majority(others.map((other) => other.labels)), labels),
        benchmark: benchmarkOf(turnOffsets, rater, raters, dataset),
      };
    }),
    pairs: raters.flatMap((a, first) =>
      raters.slice(first + 1).map((b, i) => ({
        first,
        second: first + 1 + i,
        agreement: compare(a.labels, b.labels),
      })),
    ),
  };
}

/** A trajectory counts where the reference labels it and the rater labelled it, or failed to. */
function benchmarkOf(
  turnOffsets: Int32Array,
  rater: Rater,
  raters: readonly Rater[],
  dataset: readonly (string | null)[],
): RaterBenchmark | null {
  const people = raters.filter((other) => other !== rater && other.signal === REFERENCE);
  if (people.length === 0) return null;
  const reference = majority(people.map(({ labels }) => labels));
  const says = (labels: Float64Array, i: number) =>
    labels.subarray(turnOffsets[i], turnOffsets[i + 1]).some((label) => !Number.isNaN(label));
  const asked = [...dataset.keys()].filter(
    (i) => says(reference, i) && (says(rater.labels, i) || rater.failed?.[i] === 1),
  );
  if (asked.length === 0) return null;
  const offsets = new Int32Array(asked.length + 1);
  asked.forEach((i, at) => (offsets[at + 1] = offsets[at] + turnOffsets[i + 1] - turnOffsets[i]));
  const picked = (labels: Float64Array) =>
    Float64Array.from(asked.flatMap((i) => [...labels.subarray(turnOffsets[i], turnOffsets[i + 1])]));
  const found = agentProcessBench(
    { turnOffsets: offsets },
    picked(reference),
    picked(rater.labels),
    asked.map((i) => dataset[i]),
    asked.map((i) => rater.failed?.[i] === 1),
  );
  // a judgement that failed names no error, as in ProcessBench a critique that cannot be read
  const verdicts = found.firstErrorTurn.map(([, judge], at) => (rater.failed?.[asked[at]] === 1 ? null : judge));
  const human = found.firstErrorTurn.map(([first]) => first);
  return { ...found.pooled, ...firstErrorScores(human, verdicts), byDataset: found.byDataset };
}

function agreementOf(
  turnOffsets: Int32Array,
  one: Float64Array,
  two: Float64Array,
  comparisons: number,
): RaterAgreement {
  // a turn that only one of them labelled says nothing about how they agree
  const hasBoth = one.map((label, turn) => (Number.isNaN(label) || Number.isNaN(two[turn]) ? NaN : 1));
  const [a, b] = [one, two].map((labels) => labels.map((label, turn) => label * hasBoth[turn]));
  const counts = labelCounts(turnOffsets, a, b);
  const { kappa, stepAccuracy, firstErrorAccuracy, macroF1, confusion } = labelAgreement(counts);
  const [low, high] = kappaInterval(perTrajectory(turnOffsets, a, b), comparisons);
  return {
    turns: counts.labelled,
    trajectories: counts.records,
    kappa,
    kappaLow: kappa === null ? null : low,
    kappaHigh: kappa === null ? null : high,
    sameShare: stepAccuracy,
    firstErrorShare: firstErrorAccuracy,
    macroF1,
    confusion,
  };
}

/** The counts of each trajectory with a label. */
function perTrajectory(turnOffsets: Int32Array, a: Float64Array, b: Float64Array): LabelCounts[] {
  const counts: LabelCounts[] = [];
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    const [from, to] = [turnOffsets[i], turnOffsets[i + 1]];
    const own = labelCounts(Int32Array.of(0, to - from), a.subarray(from, to), b.subarray(from, to));
    if (own.records > 0) counts.push(own);
  }
  return counts;
}

function kappaInterval(records: readonly LabelCounts[], comparisons: number): readonly [number | null, number | null] {
  if (records.length < 2) return [null, null];
  const affordable = Math.floor(VISITS / (comparisons * records.length));
  const resamples = Math.min(RESAMPLES, Math.max(LEAST_RESAMPLES, affordable));
  const random = seededRandom(SEED);
  const cells = Float64Array.from(records.flatMap(({ confusion }) => confusion.flat()));
  const drawn: number[] = [];
  const sum = new Float64Array(9);
  for (let resample = 0; resample < resamples; resample++) {
    sum.fill(0);
    for (let i = 0; i < records.length; i++) {
      const at = 9 * random.integer(records.length);
      for (let k = 0; k < 9; k++) sum[k] += cells[at + k];
    }
    const kappa = kappaOf(sum);
    if (Number.isFinite(kappa)) drawn.push(kappa);
  }
  if (drawn.length < Math.max(LEAST_USABLE, LEAST_USABLE_SHARE * resamples)) return [null, null];
  const sorted = Float64Array.from(drawn).sort();
  return [quantileOfSorted(sorted, (1 - LEVEL) / 2), quantileOfSorted(sorted, (1 + LEVEL) / 2)];
}

/** @param cells [9] row by row */
function kappaOf(cells: Float64Array): number {
  const n = cells.reduce((total, count) => total + count, 0);
  let [observed, expected] = [0, 0];
  for (let k = 0; k < 3; k++) {
    observed += cells[4 * k] / n;
    const row = cells[3 * k] + cells[3 * k + 1] + cells[3 * k + 2];
    const column = cells[k] + cells[3 + k] + cells[6 + k];
    expected += (row / n) * (column / n);
  }
  return expected < 1 ? (observed - expected) / (1 - expected) : NaN;
}
