import { numbers, type NumericValues, type TrajectoryBatch } from '#lib/dataset';
import { aucOfSides, clamp, scratchDoubles } from '#lib/numeric';
import { z } from 'zod';
import { binOf } from '../bin-of.js';
import { bestRows } from '../best-rows.js';
import { defineDiagnostic, MAX_EVIDENCE, type Measured } from '../diagnostic.js';
import { successOf } from '../groups.js';
import { counted, figure, percent } from '../sentences.js';

const LEAST_PROBABILITY = 1e-12;
const VARIANCE_FLOOR = 1e-5;

/** Sums over turns with an estimate p whose trajectory ended with y; they add up over steps. */
export interface CalibrationSums {
  /** [bins] turns, Σ p, Σ y */
  readonly bins: readonly (readonly [count: number, p: number, y: number])[];
  readonly squaredError: number;
  readonly logLoss: number;
  /** Σ (y − p) */
  readonly error: number;
}

/**
 * How far estimates of success are from success.
 *
 *     bins            b = min(B − 1, ⌊p B⌋): an edge goes to the upper bin
 *     ece = Σ n_b / N · |p̄_b − ȳ_b|,  mce the greatest
 *     reliability = Σ n_b / N (p̄_b − ȳ_b)²,  resolution = Σ n_b / N (ȳ_b − ȳ)²,  uncertainty = ȳ (1 − ȳ)
 *     brierSkill = 1 − Brier / uncertainty
 *     explainedVariance = 1 − var(y − p) / (var(y) + 1e-5)        n − 1 in both, as verl
 *     logLoss with p cut to [1e-12, 1 − 1e-12]
 *
 * Turns of one trajectory share y: they are no independent observations.
 *
 * Source: Murphy's parts of the Brier score; verl metric_utils.py (vf_explained_var).
 */
export function calibrationOf({ bins, squaredError, logLoss, error }: CalibrationSums) {
  const n = bins.reduce((sum, [count]) => sum + count, 0);
  const solved = bins.reduce((sum, [, , y]) => sum + y, 0);
  const base = solved / n;
  const uncertainty = base * (1 - base);
  const means = bins.map(([count, p, y]) => ({ count, p: p / count, y: y / count }));
  const filled = means.filter(({ count }) => count > 0);
  const over = (of: (bin: (typeof filled)[number]) => number) =>
    filled.reduce((sum, bin) => sum + (bin.count / n) * of(bin), 0);
  // y is 0 or 1, so its squares sum up to `solved`
  const varianceOfY = (solved - solved * base) / (n - 1);
  const varianceOfError = (squaredError - (error * error) / n) / (n - 1);
  return {
    count: n,
    bins: means.map(({ count, p, y }) => (count > 0 ? [count, p, y] : [0, null, null])),
    ece: over(({ p, y }) => Math.abs(p - y)),
    mce: filled.reduce((most, { p, y }) => Math.max(most, Math.abs(p - y)), 0),
    brier: squaredError / n,
    reliability: over(({ p, y }) => (p - y) ** 2),
    resolution: over(({ y }) => (y - base) ** 2),
    uncertainty,
    brierSkill: uncertainty > 0 ? 1 - squaredError / n / uncertainty : null,
    logLoss: logLoss / n,
    explainedVariance: n > 1 ? 1 - varianceOfError / (varianceOfY + VARIANCE_FLOOR) : null,
  };
}

interface Estimates {
  /** [turns] NaN: none */
  readonly p: NumericValues;
  /** [trajectories] success, which each turn is held against; NaN: not said */
  readonly y: Float64Array;
  /** [trajectories + 1] */
  readonly turnOffsets: Int32Array;
  /** [trajectories] */
  readonly groupOf: Int32Array;
  readonly groupCount: number;
}

export function estimatesOf(trajectories: TrajectoryBatch): Estimates | null {
  const p = numbers(trajectories, 'turn.successEstimate');
  const { turnOffsets, groupOf, groupCount } = trajectories;
  return p && { p, y: successOf(trajectories), turnOffsets, groupOf, groupCount };
}

/** What one walk over the turns tells. */
interface Tally {
  readonly sums: CalibrationSums;
  /** with an estimate and an outcome */
  readonly trajectories: number;
  /**
   * [groups] Σ (p − y)² − Σ (y − ȳ_g)²: above 0 the estimates are worse than the group's own rate of success. NaN: none is
   * held against anything
   */
  readonly regrets: Float64Array;
}

const saidIn = scratchDoubles();
const solvedIn = scratchDoubles();
const squaredIn = scratchDoubles();

/** @param bins of equal width */
function tally({ p, y, turnOffsets, groupOf, groupCount }: Estimates, bins: number): Tally {
  const counts = new Float64Array(bins);
  const ofP = new Float64Array(bins);
  const ofY = new Float64Array(bins);
  const ofGroup = {
    said: saidIn(groupCount).fill(0),
    solved: solvedIn(groupCount).fill(0),
    squared: squaredIn(groupCount).fill(0),
  };
  let squaredError = 0;
  let logLoss = 0;
  let error = 0;
  let trajectories = 0;
  for (let i = 0; i < y.length; i++) {
    const outcome = y[i];
    if (Number.isNaN(outcome)) continue;
    const group = groupOf[i];
    const end = turnOffsets[i + 1];
    let said = 0;
    let squared = ofGroup.squared[group];
    for (let t = turnOffsets[i]; t < end; t++) {
      const chance = p[t];
      if (Number.isNaN(chance)) continue;
      said++;
      const bin = binOf(chance, bins);
      counts[bin]++;
      ofP[bin] += chance;
      ofY[bin] += outcome;
      const off = outcome - chance;
      squaredError += off * off;
      squared += off * off;
      error += off;
      const sure = clamp(chance, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY);
      logLoss -= Math.log(outcome > 0 ? sure : 1 - sure);
    }
    if (said > 0) trajectories++;
    ofGroup.said[group] += said;
    ofGroup.solved[group] += said * outcome;
    ofGroup.squared[group] = squared;
  }
  return {
    sums: {
      bins: Array.from(counts, (count, bin) => [count, ofP[bin], ofY[bin]] as const),
      squaredError,
      logLoss,
      error,
    },
    trajectories,
    regrets: regretsOf(ofGroup),
  };
}

function regretsOf({ said, solved, squared }: Record<'said' | 'solved' | 'squared', Float64Array>): Float64Array {
  const regrets = new Float64Array(said.length);
  for (let g = 0; g < said.length; g++) {
    regrets[g] = squared[g] - (solved[g] - (solved[g] * solved[g]) / said[g]); // nothing said: 0 / 0
  }
  return regrets;
}

/** @param bins of equal width */
export const calibrationSums = (estimates: Estimates, bins: number): CalibrationSums => tally(estimates, bins).sums;

/** Per group how much worse the estimates are than its own rate of success. */
export function subgroupRegret({ groups }: TrajectoryBatch, estimates: Estimates): Record<string, number> {
  return named(groups, tally(estimates, 1).regrets, -Infinity);
}

/**
 * The regrets from `least` on by name, of two groups with one name the later's. Few are enough: a name that is new to V8 costs
 * it more as a key of an object than the sums of its group.
 */
function named(groups: readonly string[], regrets: Float64Array, least: number): Record<string, number> {
  const regretOf: Record<string, number> = {};
  for (let g = 0; g < regrets.length; g++) if (regrets[g] >= least) regretOf[groups[g]] = regrets[g];
  return regretOf;
}

const ofSuccesses = scratchDoubles();
const ofFailures = scratchDoubles();

/** How well estimates tell successes from failures: ½ is chance, null where there is only one of them. */
export function aucOfEstimates({ p, y, turnOffsets }: Estimates): number | null {
  const successes = ofSuccesses(p.length);
  const failures = ofFailures(p.length);
  let right = 0;
  let wrong = 0;
  for (let i = 0; i < y.length; i++) {
    const outcome = y[i];
    const end = turnOffsets[i + 1];
    if (outcome > 0) {
      for (let t = turnOffsets[i]; t < end; t++) if (Number.isFinite(p[t])) successes[right++] = p[t];
    } else if (outcome === 0) {
      for (let t = turnOffsets[i]; t < end; t++) if (Number.isFinite(p[t])) failures[wrong++] = p[t];
    }
  }
  const found = aucOfSides(successes.subarray(0, right), failures.subarray(0, wrong));
  return Number.isFinite(found) ? found : null;
}

interface Figures {
  readonly sums: CalibrationSums;
  readonly auc: number | null;
  /** with an estimate and an outcome: intervals go by them, not by turns */
  readonly trajectories: number;
  /** the groups whose estimates are worst, at most three */
  readonly worst: readonly (readonly [group: string, regret: number])[];
}

const WORST = 3;

/** The groups of highest regret above 0, the highest first. */
function worstGroups(groups: readonly string[], regrets: Float64Array): Figures['worst'] {
  const least = regrets[bestRows(regrets, WORST).at(-1) ?? 0];
  return Object.entries(named(groups, regrets, isOneNamedTwice(groups, regrets, least) ? -Infinity : least))
    .filter(([, regret]) => regret > 0)
    .sort(byRegret)
    .slice(0, WORST);
}

function isOneNamedTwice(groups: readonly string[], regrets: Float64Array, least: number): boolean {
  for (let g = 0; g < regrets.length; g++) {
    if (regrets[g] >= least && groups.indexOf(groups[g]) !== groups.lastIndexOf(groups[g])) return true;
  }
  return false;
}

const byRegret = ([, a]: readonly [string, number], [, b]: readonly [string, number]) => b - a;

export const predictorCalibrationDiagnostic = defineDiagnostic({
  id: 'predictor-calibration',
  version: 1,
  title: 'Estimates of success',
  question: 'Does what was said of the chances come true?',
  remedy:
    'Recalibrate (temperature scaling), train the predictor on more outcomes; do not give credit by it meanwhile.',
  headline: 'ece',
  level: 'run',
  status: 'verified',
  source: 'Murphy’s decomposition; verl metric_utils.py (vf_explained_var); limits ours',
  requires: ['turn.successEstimate', 'trajectory.outcomeReward'],
  accepts: ['trajectory.success'],
  metrics: [],
  params: z.strictObject({ bins: z.int().min(2).max(100).default(10).describe('of equal width') }),
  thresholds: z.strictObject({
    ece: z.number().min(0).max(1).default(0.1).describe('expected calibration error: more is a warning'),
  }),

  measure({ trajectories }, { bins }): Figures | null {
    const estimates = estimatesOf(trajectories);
    if (!estimates) return null;
    const { sums, trajectories: estimated, regrets } = tally(estimates, bins);
    if (estimated === 0) return null;
    const worst = worstGroups(trajectories.groups, regrets);
    return { sums, auc: aucOfEstimates(estimates), trajectories: estimated, worst };
  },

  read(steps) {
    const { bins, ...values } = calibrationOf(steps.map(({ figures }) => figures.sums).reduce(addSums));
    const ranked = weightedAuc(steps);
    return {
      values: { ...values, auc: ranked },
      reasons: {
        ...(values.brierSkill === null && { brierSkill: 'all trajectories ended alike' }),
        ...(values.explainedVariance === null && { explainedVariance: 'needs 2 estimates' }),
        ...(ranked === null && { auc: 'on no training step both successes and failures have estimates' }),
      },
      sentence: `estimates of success are off by ${percent(values.ece)} on average over ${counted(values.count, 'turn')}${values.brierSkill === null ? '' : `; they are ${values.brierSkill > 0 ? 'better' : 'no better'} than the base rate`}`,
      steps: steps.map(({ trainingStep, figures }) => {
        const { bins: _, ...ofStep } = calibrationOf(figures.sums);
        return { trainingStep, values: { ...ofStep, auc: figures.auc }, observations: figures.trajectories };
      }),
      evidence: steps
        .flatMap(({ trainingStep, figures }) =>
          figures.worst.map(([group, regret]) => ({ trainingStep, group, regret })),
        ) // prettier-ignore
        .sort((a, b) => b.regret - a.regret)
        .slice(0, MAX_EVIDENCE)
        .map(({ trainingStep, group, regret }) => ({
          trainingStep,
          group,
          note: `worse than the group's own rate by ${figure(regret)} in squared error`,
        })),
      detail: { bins },
    };
  },

  rules: ({ ece }) => [
    {
      id: 'miscalibrated',
      level: 'warn',
      all: [{ value: 'ece', op: '>', limit: ece }],
      minimum: 32,
      says: `estimates of success are off by more than ${percent(ece)}`,
    },
    {
      id: 'worse-than-constant',
      level: 'warn',
      all: [
        { value: 'explainedVariance', op: '<', limit: 0 },
        { value: 'uncertainty', op: '>', limit: 0 },
      ],
      minimum: 32,
      says: 'the estimates explain less than a constant would: credit that is made of them is noise',
    },
  ],
});

function addSums(a: CalibrationSums, b: CalibrationSums): CalibrationSums {
  return {
    bins: a.bins.map(([count, p, y], i) => [count + b.bins[i][0], p + b.bins[i][1], y + b.bins[i][2]]),
    squaredError: a.squaredError + b.squaredError,
    logLoss: a.logLoss + b.logLoss,
    error: a.error + b.error,
  };
}

/** Mean of the steps' own, weighted by their trajectories: ranks are not kept. */
function weightedAuc(steps: readonly Measured<Figures>[]): number | null {
  const said = steps.filter(({ figures }) => figures.auc !== null);
  const weight = said.reduce((sum, { figures }) => sum + figures.trajectories, 0);
  return weight > 0 ? said.reduce((sum, { figures }) => sum + figures.auc! * figures.trajectories, 0) / weight : null;
}
