import { quantiles } from '#lib/numeric';
import { z } from 'zod';
import { distance, product, type Checkpoint } from '../checkpoints.js';
import { defineDiagnostic } from '../diagnostic.js';
import { mean } from '../groups.js';
import { leastSquares } from '../least-squares.js';
import { counted, figure, percent } from '../sentences.js';
import { leftOutText } from './path-straightness.js';

export interface ExtrapolationOptions {
  /** observed training steps after the first checkpoint: later ones are held back */
  readonly historySteps: number;
  readonly targetSteps: readonly number[];
  /** last observed rows that the line is fitted to; -1: all */
  readonly window: number;
}

/**
 * RELEX: where the parameters go if they go on along their first direction. Per tensor, over rows δ_s = θ_s − θ_0 of
 * the observed steps (not centred):
 *
 *     G = M Mᵀ = Σ λ u uᵀ,  σ = √λ_1,  v = Mᵀ u_1 / σ,  coefficients c = σ u_1   (signed so that the last is ≥ 0)
 *     explainedVariance = λ_1 / tr G
 *     line  c_t = slope · t + intercept over the row number t of the window, from 0
 *     t* = W − 1 + (target − last observed step),  prediction = c(t*) v = Σ_s mixWeights_s δ_s
 *     r2 of all observed c and outOfSampleR2 of the held-back δ · v, by the line through c on the training step
 *     futureAlignment = (δ · v)² / ‖δ‖² of each held-back checkpoint
 *
 * A random walk already gives an explained variance of 8/π² = 0.81 and an r2 of 0.96: neither alone proves anything.
 *
 * Source: weizhepei/RELEX scripts/svd_extrapolation.py, arXiv:2605.21468. Rank 1.
 *
 * @param checkpoints ascending; the first is the base model
 */
export function relexExtrapolation(checkpoints: readonly Omit<Checkpoint, 'kind'>[], options: ExtrapolationOptions) {
  const names = Object.keys(checkpoints[0].tensors);
  const tensors = Object.fromEntries(names.map((name) => [name, ofTensor(checkpoints, name, options)]));
  const explained = names.map((name) => tensors[name].explainedVariance);
  return {
    tensors,
    explainedVarianceMean: mean(explained),
    explainedVarianceMin: explained.length > 0 ? Math.min(...explained) : null,
    explainedVarianceMedian: explained.length > 0 ? quantiles(Float64Array.from(explained), [0.5])[0] : null,
    above90: explained.filter((share) => share >= 0.9).length,
  };
}

function ofTensor(checkpoints: readonly Omit<Checkpoint, 'kind'>[], name: string, options: ExtrapolationOptions) {
  const [first, ...later] = checkpoints.map(({ trainingStep, tensors }) => ({ trainingStep, values: tensors[name] }));
  const rows = later.map(({ trainingStep, values }) => ({
    trainingStep,
    delta: Float64Array.from(values, (value, i) => value - first.values[i]),
  }));
  const observed = rows.filter(({ trainingStep }) => trainingStep - first.trainingStep <= options.historySteps);
  const heldBack = rows.slice(observed.length);
  const deltas = observed.map(({ delta }) => delta);
  const { eigenvalue, vector, trace } = leading(symmetric(deltas));
  const sigma = Math.sqrt(Math.max(0, eigenvalue));
  if (!(sigma > 0)) return untouched(observed.length, first.values.length, options.targetSteps.length);

  const coefficients = vector.map((u) => sigma * u);
  const direction = combine(
    vector.map((u) => u / sigma),
    deltas,
  );
  const inWindow = coefficients.slice(options.window > 0 ? -options.window : 0);
  const line = leastSquares([...inWindow.keys()], inWindow) ?? { slope: 0, intercept: inWindow[0] };
  const last = observed.at(-1)!.trainingStep;
  const targets = options.targetSteps.map(
    (target) => line.slope * (inWindow.length - 1 + target - last) + line.intercept,
  );
  const steps = observed.map(({ trainingStep }) => trainingStep);
  const ofStep = leastSquares(steps, coefficients) ?? { slope: 0, intercept: coefficients[0] };
  const ahead = heldBack.map(({ trainingStep, delta }) => ({ trainingStep, delta, along: product(delta, direction) }));
  return {
    explainedVariance: eigenvalue / trace,
    singularValue: sigma,
    coefficients,
    slope: line.slope,
    intercept: line.intercept,
    r2: rSquared(steps, coefficients, ofStep),
    predictions: targets.map((at) => Array.from(direction, (value) => at * value)),
    mixWeights: targets.map((at) => vector.map((u) => (at * u) / sigma)),
    futureAlignment: ahead.map(({ delta, along }) => (along * along) / product(delta, delta)),
    outOfSampleR2:
      ahead.length > 0
        ? rSquared(ahead.map(({ trainingStep }) => trainingStep), ahead.map(({ along }) => along), ofStep) // prettier-ignore
        : null,
  };
}

function untouched(rows: number, dimensions: number, targets: number) {
  const zeros = (count: number) => new Array<number>(count).fill(0);
  return {
    explainedVariance: 0,
    singularValue: 0,
    coefficients: zeros(rows),
    slope: 0,
    intercept: 0,
    r2: 1,
    predictions: Array.from({ length: targets }, () => zeros(dimensions)),
    mixWeights: Array.from({ length: targets }, () => zeros(rows)),
    futureAlignment: [],
    outOfSampleR2: null,
  };
}

/** [rows][rows] the inner products of rows. */
function symmetric(rows: readonly Float64Array[]): number[][] {
  const products = rows.map(() => new Array<number>(rows.length));
  rows.forEach((row, i) => {
    for (let j = 0; j <= i; j++) products[i][j] = products[j][i] = product(row, rows[j]);
  });
  return products;
}

/** Squarings of the matrix: its 2^24th power has no direction left but the first, and most have none much earlier. */
const SQUARINGS = 24;
const ONE_DIRECTION = 1 - 1e-15;

/** The largest eigenvalue of a symmetric matrix without negative ones, and its vector of length 1, its last entry ≥ 0. */
function leading(matrix: readonly (readonly number[])[]) {
  const n = matrix.length;
  const trace = matrix.reduce((sum, row, i) => sum + row[i], 0);
  if (!(trace > 0)) return { eigenvalue: 0, vector: new Array<number>(n).fill(0), trace };
  let power = matrix.map((row) => row.map((value) => value / trace));
  for (let i = 0; i < SQUARINGS; i++) {
    const square = symmetric(power.map((each) => Float64Array.from(each)));
    const size = square.reduce((sum, each, k) => sum + each[k], 0);
    power = square.map((each) => each.map((value) => value / size));
    if (size >= ONE_DIRECTION) break; // its trace was 1: the other eigenvalues are nothing beside the first
  }
  const row = power.reduce((most, one) => (product(one, one) > product(most, most) ? one : most));
  const length = Math.sqrt(product(row, row)) * (row[n - 1] < 0 ? -1 : 1);
  const vector = row.map((value) => value / length);
  return { eigenvalue: product(vector, matrix.map((one) => product(one, vector))), vector, trace }; // prettier-ignore
}

function combine(weights: readonly number[], rows: readonly Float64Array[]): Float64Array {
  return rows[0].map((_, d) => rows.reduce((sum, row, i) => sum + weights[i] * row[d], 0));
}

/** 1 where nothing varies and nothing is missed. */
function rSquared(
  x: readonly number[],
  y: readonly number[],
  { slope, intercept }: { readonly slope: number; readonly intercept: number },
): number {
  const centre = mean(y)!;
  const residual = y.reduce((sum, value, i) => sum + (value - slope * x[i] - intercept) ** 2, 0);
  const spread = y.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return spread > 0 ? 1 - residual / spread : Number(residual === 0);
}

/** Of the checkpoints, held back to test the line. */
const HELD_BACK = 0.2;
const LEAST = 10;
/** Latest checkpoints that are looked at, beside the first. */
const MOST = 40;
/** The line is trusted this many windows ahead. */
const REACH = 10;

const Thresholds = z.strictObject({
  explained: z.number().min(0).max(1).default(0.85).describe('variance along the first direction: more is asked'),
  straightness: z.number().positive().default(3).describe('times 1/√checkpoints: a straighter path is asked'),
  outOfSampleR2: z.number().max(1).default(0.8).describe('on the held-back checkpoints, or'),
  alignment: z.number().min(0).max(1).default(0.6).describe('of the held-back checkpoints with the direction'),
});

/** What is kept of a checkpoint: how well a line through it and those before it holds. */
interface Fit {
  readonly explainedVariance: number;
  readonly r2: number;
  readonly outOfSampleR2: number | null;
  readonly futureAlignment: number | null;
  readonly straightness: number;
  /** that the line was fitted to */
  readonly checkpoints: number;
  /** the training step up to which it is trusted, if it is at all */
  readonly upTo: number;
  /** per tensor, what to add to the first checkpoint to come to `upTo`: weights of the differences to it */
  readonly mixWeights: Readonly<Record<string, readonly number[]>>;
  /** of these checkpoints */
  readonly trainingSteps: readonly number[];
}

/** What the checkpoints so far say, the last fifth held back; null: too few, or none of them moved. */
function fitOf(all: readonly Checkpoint[]): Fit | null {
  if (all.length < LEAST) return null;
  const checkpoints = [all[0], ...all.slice(1).slice(-MOST)];
  const observed = Math.ceil(checkpoints.length * (1 - HELD_BACK));
  const [first, last] = [checkpoints[0].trainingStep, checkpoints[observed - 1].trainingStep];
  const found = relexExtrapolation(checkpoints, { historySteps: last - first, targetSteps: [], window: -1 });
  const tensors = Object.values(found.tensors).filter(({ singularValue }) => singularValue > 0);
  if (tensors.length === 0) return null;
  const path = checkpoints.slice(0, observed).map((checkpoint) => checkpoint.tensors);
  const lengths = path.slice(1).map((point, i) => distance(point, path[i]));
  const upTo = first + REACH * (last - first);
  return {
    explainedVariance: mean(tensors.map(({ explainedVariance }) => explainedVariance))!,
    r2: mean(tensors.map(({ r2 }) => r2))!,
    outOfSampleR2: mean(tensors.flatMap(({ outOfSampleR2 }) => (outOfSampleR2 === null ? [] : [outOfSampleR2]))),
    futureAlignment: mean(tensors.flatMap(({ futureAlignment }) => futureAlignment)),
    straightness: distance(path.at(-1)!, path[0]) / lengths.reduce((sum, length) => sum + length, 0),
    checkpoints: observed,
    upTo,
    mixWeights: mixWeightsOf(checkpoints, upTo),
    trainingSteps: checkpoints.slice(1).map(({ trainingStep }) => trainingStep),
  };
}

/** All checkpoints are used now, the held-back ones too. */
function mixWeightsOf(checkpoints: readonly Checkpoint[], target: number) {
  const historySteps = checkpoints.at(-1)!.trainingStep - checkpoints[0].trainingStep;
  const { tensors } = relexExtrapolation(checkpoints, { historySteps, targetSteps: [target], window: -1 });
  return Object.fromEntries(Object.entries(tensors).map(([name, { mixWeights }]) => [name, mixWeights[0]]));
}

function isLinear(fit: Fit, limits: z.infer<typeof Thresholds>): boolean {
  const { explainedVariance, straightness, outOfSampleR2, futureAlignment, checkpoints } = fit;
  const holds = (outOfSampleR2 ?? -1) > limits.outOfSampleR2 || (futureAlignment ?? -1) > limits.alignment;
  return explainedVariance > limits.explained && straightness > limits.straightness / Math.sqrt(checkpoints) && holds;
}

/** The held-back checkpoints keep to the pace of the line too: only then is it known when it leads there. */
function isTrusted(fit: Fit, limits: z.infer<typeof Thresholds>): boolean {
  return isLinear(fit, limits) && (fit.outOfSampleR2 ?? 1) > limits.outOfSampleR2;
}

interface Figures {
  readonly isComparable: boolean;
  /** null: it cannot be said yet */
  readonly fit: Fit | null;
}

const NAMES = ['explainedVariance', 'r2', 'outOfSampleR2', 'futureAlignment', 'straightness'] as const;

export const relexExtrapolationDiagnostic = defineDiagnostic({
  id: 'relex-extrapolation',
  version: 2,
  title: 'Extrapolating the parameters',
  question: 'Could a later checkpoint be had without training it?',
  remedy: 'Where it is linear: build the mixed checkpoint from the stored ones (mixWeights) and evaluate it.',
  headline: 'explainedVariance',
  level: 'run',
  status: 'verified',
  source: 'weizhepei/RELEX, arXiv:2605.21468; the three conditions are ours',
  requires: [],
  accepts: [],
  metrics: [],
  needs: 'checkpoints',
  readsCheckpoints: true,
  params: z.strictObject({}),
  thresholds: Thresholds,

  measure({ checkpoint }): Figures | null {
    if (!checkpoint) return null;
    const { earlier, isComparable, ...own } = checkpoint;
    return { isComparable, fit: isComparable ? fitOf([...earlier, own]) : null };
  },

  read(steps, limits) {
    const comparable = steps.filter(({ figures }) => figures.isComparable);
    const fit = comparable.at(-1)?.figures.fit ?? null;
    const holds = fit !== null && isLinear(fit, limits);
    const trusted = fit !== null && isTrusted(fit, limits);
    const few = `needs ${LEAST} checkpoints that differ`;
    const untrusted = holds
      ? 'held-back checkpoints keep to the line, but not to its pace'
      : 'the way is not linear enough';
    return {
      values: {
        ...Object.fromEntries(NAMES.map((name) => [name, fit?.[name] ?? null])),
        linear: fit ? Number(holds) : null,
        trustedUpTo: trusted ? fit.upTo : null,
      },
      reasons: fit
        ? { ...(!trusted && { trustedUpTo: untrusted }) }
        : Object.fromEntries([...NAMES, 'linear', 'trustedUpTo'].map((name) => [name, few])),
      sentence: `${
        fit
          ? `${factsOf(fit)}: ${trusted ? `trusted up to training step ${fit.upTo}` : untrusted}`
          : `${counted(comparable.length, 'checkpoint')}: the extrapolation ${few}`
      }${leftOutText(steps.length - comparable.length)}`,
      steps: comparable.map(({ trainingStep, figures: { fit: then } }, i) => ({
        trainingStep,
        values: {
          linear: then ? Number(isLinear(then, limits)) : null,
          trusted: then ? Number(isTrusted(then, limits)) : null,
        },
        observations: i + 1,
      })),
      evidence: [],
      ...(fit && { detail: { target: fit.upTo, trainingSteps: fit.trainingSteps, mixWeights: fit.mixWeights } }),
    };
  },

  rules: () => [
    {
      id: 'linear-regime',
      level: 'info',
      all: [{ value: 'trusted', op: '>=', limit: 1 }],
      minimum: LEAST,
      says: 'the parameters go on along one line, at its pace: an extrapolated checkpoint is worth a try',
    },
  ],
});

function factsOf({ explainedVariance, r2, outOfSampleR2 }: Fit): string {
  const heldBack = outOfSampleR2 === null ? '' : `, held-back checkpoints ${fitText(outOfSampleR2)}`;
  return `${percent(explainedVariance)} of the parameters' way lies along one line (a random walk: 81 %), which fits ${fitText(r2)}${heldBack}`;
}

/** Below 0 a line fits worse than no line, their mean; how much worse, nobody needs to know. */
const fitText = (r2: number) => (r2 < 0 ? 'worse than no line (R² below 0)' : `with R² ${figure(r2)}`);
