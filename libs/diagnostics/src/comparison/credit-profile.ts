import type { TrajectoryBatch } from '#lib/dataset';
import { mergeMoments, moments, populationStd, type Moments } from '#lib/numeric';
import { concentration } from './concentration.js';
import { HISTOGRAM_BINS, histogramBin, histogramBins } from './histogram.js';
import { addSums, signOf, withReasons } from './sums.js';

/** Turns from this one on share the last place of the profile by turn. */
export const PROFILE_TURNS = 512;

/** Parts of a trajectory's length in the profile by position. */
const POSITIONS = 10;

/** What one estimator said, in sums. A turn counts where its credit is finite: NaN is "nothing said". */
export interface ProfileSums {
  readonly moments: Moments;
  readonly sums: {
    readonly positive: number;
    readonly negative: number;
    /** Σ_i Σ_t (A_it − Ā_i)² */
    readonly within: number;
    readonly trajectories: number;
    readonly trajectoriesWithSignal: number;
    readonly groups: number;
    readonly groupsWithSignal: number;
    /** [turn index] the last place holds all later turns */
    readonly countByTurn: Float64Array;
    readonly sumByTurn: Float64Array;
    readonly absByTurn: Float64Array;
    /** [positions] */
    readonly countByPosition: Float64Array;
    readonly sumByPosition: Float64Array;
    readonly histogram: Float64Array;
    /** trajectories with Σ|A| > 0, and the sums of their concentration */
    readonly concentrated: number;
    readonly gini: number;
    readonly effectiveTurns: number;
    readonly effectiveTurnShare: number;
    readonly topShare: number;
    readonly lastShare: number;
  };
}

/**
 * Sums one estimator's credit over a shard, whole groups.
 *
 * @param credit [turns]
 */
export function profileSums(trajectories: TrajectoryBatch, credit: Float64Array): ProfileSums {
  return { moments: moments(credit), sums: sumsOf(trajectories, credit) };
}

/** One pass: a summary is made of every shard, and what it costs is reading the credit again and again. */
function sumsOf({ turnOffsets, groupOf, groupCount }: TrajectoryBatch, credit: Float64Array): ProfileSums['sums'] {
  const longest = rowLengthsMax(turnOffsets);
  const places = Math.min(longest, PROFILE_TURNS);
  const countByTurn = new Float64Array(places);
  const sumByTurn = new Float64Array(places);
  const absByTurn = new Float64Array(places);
  const countByPosition = new Float64Array(POSITIONS);
  const sumByPosition = new Float64Array(POSITIONS);
  const histogram = new Float64Array(HISTOGRAM_BINS);
  let positive = 0;
  let negative = 0;
  let within = 0;
  let withCredit = 0;
  let withSignal = 0;
  let concentrated = 0;
  let gini = 0;
  let effectiveTurns = 0;
  let effectiveTurnShare = 0;
  let topShare = 0;
  let lastShare = 0;
  const saidInGroup = new Uint8Array(groupCount);
  const signalInGroup = new Uint8Array(groupCount);
  const magnitudes = new Float64Array(longest);
  const positionsByLength: Uint8Array[] = [];
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    const from = turnOffsets[i];
    const length = turnOffsets[i + 1] - from;
    const positions = (positionsByLength[length] ??= positionsOf(length));
    let said = 0;
    let mean = 0;
    let signals = 0;
    for (let t = 0; t < length; t++) {
      const value = credit[from + t];
      if (!Number.isFinite(value)) continue;
      const size = Math.abs(value);
      magnitudes[said++] = size;
      // Welford's update: a trajectory with one credit throughout adds exactly 0.
      const delta = value - mean;
      mean += delta / said;
      within += delta * (value - mean);
      const sign = signOf(value);
      positive += Number(sign > 0);
      negative += Number(sign < 0);
      signals |= sign;
      histogram[histogramBin(value)]++;
      const place = Math.min(t, PROFILE_TURNS - 1);
      countByTurn[place]++;
      sumByTurn[place] += value;
      absByTurn[place] += size;
      countByPosition[positions[t]]++;
      sumByPosition[positions[t]] += value;
    }
    if (said === 0) continue;
    withCredit++;
    saidInGroup[groupOf[i]] = 1;
    if (signals !== 0) {
      withSignal++;
      signalInGroup[groupOf[i]] = 1;
    }
    const shape = concentration(magnitudes, said);
    if (!shape) continue;
    concentrated++;
    gini += shape.gini;
    effectiveTurns += shape.effectiveTurns;
    effectiveTurnShare += shape.effectiveTurns / said;
    topShare += shape.topShare;
    lastShare += shape.lastShare;
  }
  // in this order, which is that of the stored bytes
  return {
    positive,
    negative,
    histogram,
    within,
    trajectories: withCredit,
    trajectoriesWithSignal: withSignal,
    concentrated,
    gini,
    effectiveTurns,
    effectiveTurnShare,
    topShare,
    lastShare,
    groups: ones(saidInGroup),
    groupsWithSignal: ones(signalInGroup),
    countByTurn,
    sumByTurn,
    absByTurn,
    countByPosition,
    sumByPosition,
  };
}

function rowLengthsMax(offsets: Int32Array): number {
  let longest = 0;
  for (let i = 0; i + 1 < offsets.length; i++) longest = Math.max(longest, offsets[i + 1] - offsets[i]);
  return longest;
}

/** The tenth of a trajectory's length in which each of its turns lies. */
function positionsOf(length: number): Uint8Array {
  const last = length - 1;
  return Uint8Array.from({ length }, (_, t) =>
    // 1e-12: a third of the way must not fall short of its bin by rounding.
    last === 0 ? 0 : Math.min(POSITIONS - 1, Math.floor((POSITIONS * t) / last + 1e-12)),
  );
}

function ones(flags: Uint8Array): number {
  return flags.reduce((sum, flag) => sum + flag, 0);
}

/** The profiles of two disjoint sets of groups taken together. */
export function mergeProfiles(a: ProfileSums, b: ProfileSums): ProfileSums {
  return { moments: mergeMoments(a.moments, b.moments), sums: addSums(a.sums, b.sums) };
}

/** Where and how densely one estimator puts its credit. */
export type CreditProfile = ReturnType<typeof creditProfile>;

/**
 * The diagnostic credit-profile, from sums.
 *
 *     signalDensity         share of the turns it speaks of with |A| > 1e-8
 *     mean, std             of the credit, ddof 0
 *     withinTrajectoryShare 1 − Σ_i T_i (Ā_i − Ā)² / Σ (A_it − Ā)²; 0 for an outcome estimator, null if all are equal
 *     gini …, lastShare     means over the trajectories with Σ|A| > 0
 *
 * `foldedFromTurn` is the turn whose place holds all later turns too; null where no trajectory is that long.
 */
export function creditProfile(estimator: string, { moments: of, sums }: ProfileSums) {
  const nothing = 'nothing said on any turn';
  const flat = 'all credit is zero';
  const mean = (sum: number): readonly [number, string] => [sum / sums.concentrated, of.n ? flat : nothing];
  const share = (count: number): readonly [number, string] => [count / of.n, nothing];
  return {
    id: estimator,
    turns: of.n,
    trajectories: sums.trajectories,
    groups: sums.groups,
    groupsWithSignal: sums.groupsWithSignal,
    ...withReasons({
      signalDensity: share(sums.positive + sums.negative),
      trajectoryDensity: [sums.trajectoriesWithSignal / sums.trajectories, nothing],
      positiveShare: share(sums.positive),
      negativeShare: share(sums.negative),
      mean: [of.n ? of.mean : NaN, nothing],
      std: [populationStd(of), nothing],
      withinTrajectoryShare: [
        populationStd(of) > 0 ? Math.min(1, sums.within / of.m2) : NaN,
        of.n ? 'all credit is equal' : nothing,
      ],
      gini: mean(sums.gini),
      effectiveTurns: mean(sums.effectiveTurns),
      effectiveTurnShare: mean(sums.effectiveTurnShare),
      topShare: mean(sums.topShare),
      lastShare: mean(sums.lastShare),
    }),
    meanByTurn: ratios(sums.sumByTurn, sums.countByTurn),
    meanAbsByTurn: ratios(sums.absByTurn, sums.countByTurn),
    countByTurn: [...sums.countByTurn],
    foldedFromTurn: sums.countByTurn.length < PROFILE_TURNS ? null : PROFILE_TURNS - 1,
    meanByPosition: ratios(sums.sumByPosition, sums.countByPosition),
    countByPosition: [...sums.countByPosition],
    histogram: histogramBins(sums.histogram),
  };
}

function ratios(sum: Float64Array, count: Float64Array): (number | null)[] {
  return Array.from(sum, (value, i) => (count[i] > 0 ? value / count[i] : null));
}
