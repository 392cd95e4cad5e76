import { comoments, concordance, ownerOf, quantileOfSorted, seededRandom } from '#lib/numeric';
import { firstError, type SampledAgreement } from './credit-vs-truth.js';
import { MEASURES, type Interval, type Measure } from './measures.js';
import {
  ascending,
  classedCredit,
  noRanks,
  rankAgain,
  rankStatistics,
  weightedAuc,
  type ClassedCredit,
  type WeightedRanks,
} from './rank-statistics.js';
import type { Sample } from './sample.js';
import { pairName } from './sums.js';

export interface BootstrapOptions {
  /** resamples asked for; fewer are made where that many would cost too much */
  readonly resamples: number;
  readonly seed: string;
}

/** diagnostics.md, section 0. */
export const BOOTSTRAP: BootstrapOptions = { resamples: 1_000, seed: 'recredit' };

const LEVEL = 0.9;

/** Row visits the bootstrap may spend, at 6 ns each; it prefers a coarser interval to a comparison that waits. */
const ROW_VISITS = 1.5e8;
const LEAST_RESAMPLES = 200;

/** An interval needs this many resamples in which the number was defined, and this share of them. */
const LEAST_USABLE = 20;
const LEAST_USABLE_SHARE = 0.1;

/** One estimator against one truth, prepared so that a resample only sums. */
interface Cell {
  readonly name: string;
  readonly credit: ClassedCredit;
  /** of the rows in groups whose outcomes differ alone */
  readonly mixed: ClassedCredit;
  readonly truth: WeightedRanks;
  readonly groups: GroupSums;
}

/** Per group [groups], for everything that is a ratio of sums. Moments are about the mean of all rows. */
interface GroupSums {
  readonly n: Float64Array;
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly xx: Float64Array;
  readonly yy: Float64Array;
  readonly xy: Float64Array;
  readonly pairs: Float64Array;
  readonly right: Float64Array;
  readonly erroneous: Float64Array;
  readonly hits: Float64Array;
  readonly withinOne: Float64Array;
}

/** Rank statistics of every estimator against every truth, with a 90 % interval for every measure. */
export interface Bootstrapped {
  readonly resamples: number;
  readonly groups: number;
  /** by pairName(truth, estimator) */
  readonly cells: ReadonlyMap<string, SampledAgreement>;
}

/**
 * Percentile bootstrap over groups: each resample draws as many groups as there are, with replacement, and everything,
 * ranks included, is computed anew under how often each group was drawn. Turns of one group hang together (they share
 * the task and the mean they are measured against), so a bootstrap over turns would promise too much.
 *
 * No interval below two groups.
 */
export function bootstrap(sample: Sample, options: BootstrapOptions = BOOTSTRAP): Bootstrapped {
  const cells = cellsOf(sample);
  const truths = [...new Set(cells.map((cell) => cell.truth))];
  const visits = [
    ...cells.flatMap((cell) => [cell.credit.row, cell.mixed.row]),
    ...truths.map((truth) => truth.rank),
  ].reduce((sum, walk) => sum + walk.length, 0);
  const resamples = sample.groupCount < 2 ? 0 : affordableResamples(options.resamples, visits);

  const point = measure(cells, truths, new Int32Array(sample.groupCount).fill(1));
  const drawn = cells.map(() => MEASURES.map(() => new Float64Array(resamples)));
  const random = seededRandom(options.seed);
  const weight = new Int32Array(sample.groupCount);
  for (let b = 0; b < resamples; b++) {
    weight.fill(0);
    for (let g = 0; g < sample.groupCount; g++) weight[random.integer(sample.groupCount)]++;
    measure(cells, truths, weight).forEach((values, c) => values.forEach((value, m) => (drawn[c][m][b] = value)));
  }
  return {
    resamples,
    groups: sample.groupCount,
    cells: new Map(cells.map(({ name }, c) => [name, agreementOf(point[c], drawn[c])])),
  };
}

/** As many resamples as wanted, or as the row visits of each allow. */
export function affordableResamples(wanted: number, visits: number): number {
  return Math.min(wanted, Math.max(LEAST_RESAMPLES, Math.floor(ROW_VISITS / Math.max(1, visits))));
}

function agreementOf(point: Float64Array, drawn: readonly Float64Array[]): SampledAgreement {
  const at = (name: Measure) => point[MEASURES.indexOf(name)];
  const intervals = Object.fromEntries(MEASURES.map((name, m) => [name, interval(drawn[m])])) as Record<
    Measure,
    Interval
  >;
  return {
    spearman: at('spearman'),
    auc: at('auc'),
    aucHarmful: at('aucHarmful'),
    aucUseful: at('aucUseful'),
    aucMixedGroups: at('aucMixedGroups'),
    intervals,
  };
}

function interval(values: Float64Array): Interval {
  const usable = values.filter(Number.isFinite).sort();
  if (usable.length < Math.max(LEAST_USABLE, LEAST_USABLE_SHARE * values.length)) return [NaN, NaN];
  return [quantileOfSorted(usable, (1 - LEVEL) / 2), quantileOfSorted(usable, (1 + LEVEL) / 2)];
}

/** Estimators that speak of the same rows share the ranks of the truth. */
function cellsOf(sample: Sample): Cell[] {
  const trajectoryOfTurn = ownerOf(sample.turnOffsets);
  const groupOfTurn = trajectoryOfTurn.map((i) => sample.groupOf[i]);
  return sample.truths.flatMap(([signal, truth]) => {
    const known: { readonly rows: Int32Array; readonly ranks: WeightedRanks }[] = [];
    return sample.credits.map(([estimator, credit]): Cell => {
      const rows = commonRows(credit, truth);
      const groupOf = rows.map((row) => groupOfTurn[row]);
      const truthOf = (of: Int32Array) => Float64Array.from(of, (row) => truth[row]);
      const mixedRows = rows.filter((row) => sample.mixed[trajectoryOfTurn[row]] === 1);
      let shared = known.find((other) => areEqual(other.rows, rows));
      if (!shared) known.push((shared = { rows, ranks: noRanks(ascending(truthOf(rows), groupOf)) }));
      return {
        name: pairName(signal, estimator),
        credit: classedOf(rows, groupOfTurn, credit, truth),
        mixed: classedOf(mixedRows, groupOfTurn, credit, truth),
        truth: shared.ranks,
        groups: groupSums(sample, groupOfTurn, credit, truth),
      };
    });
  });
}

/** Some rows of a credit, put in order and classed. */
function classedOf(
  rows: Int32Array,
  groupOfTurn: Int32Array,
  credit: Float64Array,
  truth: Float64Array,
): ClassedCredit {
  const values = (column: Float64Array) => Float64Array.from(rows, (row) => column[row]);
  const groupOf = rows.map((row) => groupOfTurn[row]);
  return classedCredit(ascending(values(credit), groupOf), values(truth));
}

function commonRows(a: Float64Array, b: Float64Array): Int32Array {
  const rows = new Int32Array(a.length);
  let count = 0;
  for (let row = 0; row < a.length; row++) if (Number.isFinite(a[row]) && Number.isFinite(b[row])) rows[count++] = row;
  return rows.subarray(0, count);
}

function areEqual(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((row, i) => row === b[i]);
}

function groupSums(sample: Sample, groupOfTurn: Int32Array, credit: Float64Array, truth: Float64Array): GroupSums {
  const { meanX, meanY } = comoments(credit, truth);
  const zeros = () => new Float64Array(sample.groupCount);
  const sums = {
    n: zeros(),
    x: zeros(),
    y: zeros(),
    xx: zeros(),
    yy: zeros(),
    xy: zeros(),
    pairs: zeros(),
    right: zeros(),
    erroneous: zeros(),
    hits: zeros(),
    withinOne: zeros(),
  };
  for (let row = 0; row < credit.length; row++) {
    if (!Number.isFinite(credit[row]) || !Number.isFinite(truth[row])) continue;
    const [g, x, y] = [groupOfTurn[row], credit[row] - meanX, truth[row] - meanY];
    sums.n[g]++;
    sums.x[g] += x;
    sums.y[g] += y;
    sums.xx[g] += x * x;
    sums.yy[g] += y * y;
    sums.xy[g] += x * y;
  }
  sample.groupOf.forEach((g, i) => {
    const [from, to] = [sample.turnOffsets[i], sample.turnOffsets[i + 1]];
    const { pairs, right } = concordance(credit, truth, from, to);
    sums.pairs[g] += pairs;
    sums.right[g] += right;
    const error = firstError(credit, truth, from, to);
    if (!error) return;
    sums.erroneous[g]++;
    sums.hits[g] += error.distance === 0 ? 1 : 0;
    sums.withinOne[g] += error.distance <= 1 ? 1 : 0;
  });
  return sums;
}

/** Every measure of every cell under some weights, in the order of MEASURES. */
function measure(cells: readonly Cell[], truths: readonly WeightedRanks[], weight: Int32Array): Float64Array[] {
  for (const truth of truths) rankAgain(truth, weight);
  return cells.map((cell) => {
    const values = new Float64Array(MEASURES.length);
    rankStatistics(cell.credit, cell.truth, weight, values);
    const sum = (column: Float64Array) => weighted(column, weight);
    const { n, x, y, xx, yy, xy, pairs, right, erroneous, hits, withinOne } = cell.groups;
    const [rows, sumX, sumY] = [sum(n), sum(x), sum(y)];
    const spread = Math.sqrt((sum(xx) - (sumX * sumX) / rows) * (sum(yy) - (sumY * sumY) / rows));
    const errors = sum(erroneous);
    values[4] = spread > 0 ? (sum(xy) - (sumX * sumY) / rows) / spread : NaN;
    values[5] = sum(right) / sum(pairs);
    values[6] = sum(hits) / errors;
    values[7] = sum(withinOne) / errors;
    values[8] = weightedAuc(cell.mixed, weight);
    return values;
  });
}

function weighted(column: Float64Array, weight: Int32Array): number {
  let sum = 0;
  for (let g = 0; g < column.length; g++) sum += weight[g] * column[g];
  return sum;
}
