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
  return {
    moments: moments(credit),
    sums: {
      ...signs(credit),
      ...perTrajectory(trajectories, credit),
      ...perGroup(trajectories, credit),
      ...byTurn(trajectories, credit),
      ...byPosition(trajectories, credit),
    },
  };
}

function signs(credit: Float64Array) {
  let positive = 0;
  let negative = 0;
  const histogram = new Float64Array(HISTOGRAM_BINS);
  for (const value of credit) {
    if (!Number.isFinite(value)) continue;
    histogram[histogramBin(value)]++;
    const sign = signOf(value);
    if (sign > 0) positive++;
    else if (sign < 0) negative++;
  }
  return { positive, negative, histogram };
}

function perTrajectory({ turnOffsets }: TrajectoryBatch, credit: Float64Array) {
  const sums = {
    within: 0,
    trajectories: 0,
    trajectoriesWithSignal: 0,
    concentrated: 0,
    gini: 0,
    effectiveTurns: 0,
    effectiveTurnShare: 0,
    topShare: 0,
    lastShare: 0,
  };
  let magnitudes = new Float64Array(256);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    const length = turnOffsets[i + 1] - turnOffsets[i];
    if (length > magnitudes.length) magnitudes = new Float64Array(2 * length);
    let said = 0;
    let mean = 0;
    let hasSignal = false;
    for (let row = turnOffsets[i]; row < turnOffsets[i + 1]; row++) {
      const value = credit[row];
      if (!Number.isFinite(value)) continue;
      magnitudes[said++] = Math.abs(value);
      // Welford's update: a trajectory with one credit throughout adds exactly 0.
      const delta = value - mean;
      mean += delta / said;
      sums.within += delta * (value - mean);
      hasSignal ||= signOf(value) !== 0;
    }
    if (said === 0) continue;
    sums.trajectories++;
    sums.trajectoriesWithSignal += hasSignal ? 1 : 0;
    const shape = concentration(magnitudes.subarray(0, said));
    if (!shape) continue;
    sums.concentrated++;
    sums.gini += shape.gini;
    sums.effectiveTurns += shape.effectiveTurns;
    sums.effectiveTurnShare += shape.effectiveTurns / said;
    sums.topShare += shape.topShare;
    sums.lastShare += shape.lastShare;
  }
  return sums;
}

function perGroup({ turnOffsets, groupOf, groupCount }: TrajectoryBatch, credit: Float64Array) {
  const said = new Uint8Array(groupCount);
  const signal = new Uint8Array(groupCount);
  for (let i = 0; i < groupOf.length; i++) {
    for (let row = turnOffsets[i]; row < turnOffsets[i + 1]; row++) {
      if (!Number.isFinite(credit[row])) continue;
      said[groupOf[i]] = 1;
      if (signOf(credit[row]) !== 0) signal[groupOf[i]] = 1;
    }
  }
  const count = (flags: Uint8Array) => flags.reduce((sum, flag) => sum + flag, 0);
  return { groups: count(said), groupsWithSignal: count(signal) };
}

function byTurn({ turnOffsets }: TrajectoryBatch, credit: Float64Array) {
  const longest = rowLengthsMax(turnOffsets);
  const places = Math.min(longest, PROFILE_TURNS);
  const countByTurn = new Float64Array(places);
  const sumByTurn = new Float64Array(places);
  const absByTurn = new Float64Array(places);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    for (let row = turnOffsets[i]; row < turnOffsets[i + 1]; row++) {
      const value = credit[row];
      if (!Number.isFinite(value)) continue;
      const t = Math.min(row - turnOffsets[i], PROFILE_TURNS - 1);
      countByTurn[t]++;
      sumByTurn[t] += value;
      absByTurn[t] += Math.abs(value);
    }
  }
  return { countByTurn, sumByTurn, absByTurn };
}

function rowLengthsMax(offsets: Int32Array): number {
  let longest = 0;
  for (let i = 0; i + 1 < offsets.length; i++) longest = Math.max(longest, offsets[i + 1] - offsets[i]);
  return longest;
}

function byPosition({ turnOffsets }: TrajectoryBatch, credit: Float64Array) {
  const countByPosition = new Float64Array(POSITIONS);
  const sumByPosition = new Float64Array(POSITIONS);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    const last = turnOffsets[i + 1] - turnOffsets[i] - 1;
    for (let t = 0; t <= last; t++) {
      const value = credit[turnOffsets[i] + t];
      if (!Number.isFinite(value)) continue;
      // 1e-12: a third of the way must not fall short of its bin by rounding.
      const bin = last === 0 ? 0 : Math.min(POSITIONS - 1, Math.floor((POSITIONS * t) / last + 1e-12));
      countByPosition[bin]++;
      sumByPosition[bin] += value;
    }
  }
  return { countByPosition, sumByPosition };
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
