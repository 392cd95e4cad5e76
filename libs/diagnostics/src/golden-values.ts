import { jsonValues, numbers, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import { AGGREGATES, aggregateRows, rowLengths } from '#lib/numeric';
import { agentProcessBench } from './annotators/agent-process-bench.js';
import { processBench } from './annotators/process-bench.js';
import { comparisonOf, type Comparison } from './comparison/comparison.js';
import { concentration } from './comparison/concentration.js';
import { summarizeShard } from './comparison/summarize-shard.js';
import { difficultyBands } from './catalogue/difficulty-bands.js';
import { taskTallies } from './task-tallies.js';
import { learningPlateau } from './catalogue/learning-plateau.js';
import { loopStagnation } from './catalogue/loop-stagnation.js';
import { entropyMoments } from './catalogue/entropy-moments.js';
import { entropyStep } from './catalogue/entropy-step.js';
import { entropyTrend } from './catalogue/entropy-trend.js';
import { exploreExploit } from './exploration.js';
import { inGroupSpread } from './catalogue/in-group-spread.js';
import { passAtK } from './catalogue/pass-at-k.js';
import { goldenAudit as advantageAudit } from './audit/golden-audit.js';
import * as ofRun from './golden-run-values.js';
import { BEHAVIOUR_VALUES } from './golden-behaviour-values.js';
import { processOutcome } from './process-outcome.js';

type Params = Readonly<Record<string, unknown>>;

/** What a golden case holds; of the kinds that its diagnostic does not read there is none. */
export interface GoldenInput {
  readonly trajectories: TrajectoryBatch;
  readonly trainingSteps: readonly {
    readonly trainingStep: number;
    readonly metrics: Readonly<Record<string, number>>;
  }[];
  /** as the file has them */
  readonly checkpoints: readonly unknown[];
  /** as the file has them */
  readonly anchors: readonly unknown[];
}

/** By diagnostic or annotator evaluation: its named numbers, as `golden/diag-<id>.json` or `golden/<id>.json` names them. */
const VALUES: Readonly<Record<string, (input: GoldenInput, params: Params) => Record<string, unknown>>> = {
  'zero-variance-groups': ({ trajectories }) => zeroVarianceGroups(trajectories),
  'credit-profile': ({ trajectories }, params) => creditProfile(trajectories, params),
  'estimator-agreement': ({ trajectories }, params) => estimatorAgreement(trajectories, params),
  'credit-vs-labels': ({ trajectories }, params) => creditVsLabels(trajectories, params),
  'entropy-step': ({ trajectories }, params) => entropyStep(trajectories, params as never),
  'entropy-moments': ({ trajectories }, params) => entropyMoments(trajectories, params as never),
  'entropy-covariance': ofRun.entropyCovarianceOfRun,
  'entropy-reward-law': ofRun.entropyRewardLawOfRun,
  'surprisal-quadrants': ofRun.surprisalQuadrantsOfRun,
  'low-probability-tokens': ofRun.lowProbabilityTokensOfRun,
  'policy-staleness': ofRun.policyStalenessOfRun,
  'gradient-noise-scale': ofRun.gradientNoiseScaleOfRun,
  'path-straightness': ofRun.pathStraightnessOfRun,
  'relex-extrapolation': ofRun.relexExtrapolationOfRun,
  'explore-exploit': ({ trajectories }, params) => exploreExploit(trajectories, params as never),
  'dataset-coverage': ofRun.datasetCoverageOfRun,
  'predictor-calibration': ofRun.predictorCalibrationOfRun,
  'label-agreement': ofRun.labelAgreementOfRun,
  'jackknife-stability': ofRun.jackknifeStabilityOfRun,
  'entropy-trend': entropyTrendOfRun,
  'advantage-audit': ({ trajectories }, params) => advantageAudit(trajectories, params),
  'in-group-spread': ({ trajectories }, { keepRatio }) => inGroupSpread(trajectories, Number(keepRatio)),
  'pass-at-k': ({ trajectories }, { k }) => passAtK(trajectories, k as number[]),
  'loop-stagnation': ({ trajectories }, params) => loopStagnation(trajectories, params as never),
  'learning-plateau': ({ trainingSteps }, params) => learningPlateau(scoresOf(trainingSteps), params as never) ?? {},
  'difficulty-bands': ({ trajectories }, params) => difficultyBands(taskTallies(trajectories), params as never),
  'process-outcome-diagnostics': ({ trajectories }, params) => processOutcomeOfRun(trajectories, params),
  'process-bench': ({ trajectories }, params) => processBenchOfRun(trajectories, params),
  'agent-process-bench': ({ trajectories }) => agentProcessBenchOfRun(trajectories),
  ...BEHAVIOUR_VALUES,
};

/** The diagnostics whose golden files goldenValues can answer. */
export const GOLDEN_DIAGNOSTICS = Object.keys(VALUES);

/**
 * The numbers of one golden case of a diagnostic, under the file's own names; null for a diagnostic of another kind.
 * Tolerances and shares are constants of the comparison, so those params are not read.
 */
export function goldenValues(diagnostic: string, input: GoldenInput, params: Params): Record<string, unknown> | null {
  return VALUES[diagnostic]?.(input, params) ?? null;
}

type Columns = readonly (readonly [name: string, column: Float64Array])[];

function compare(trajectories: TrajectoryBatch, credits: Columns, truths: Columns, topK = 0): Comparison {
  const shard = { run: 'golden', trajectories, sampleRate: 1, topK };
  const summary = summarizeShard({ ...shard, credits: new Map(credits), truths: new Map(truths) });
  return comparisonOf(summary, { resamples: 0 });
}

function signal(trajectories: TrajectoryBatch, name: unknown): Float64Array {
  const path: SignalPath = `turn.${String(name)}`;
  return Float64Array.from(numbers(trajectories, path) ?? new Float64Array(trajectories.stateKey.length).fill(NaN));
}

function zeroVarianceGroups(trajectories: TrajectoryBatch) {
  const { groups, ...values } = compare(trajectories, [], []);
  return { ...values, groupCount: groups };
}

function creditProfile(trajectories: TrajectoryBatch, params: Params) {
  const credit = signal(trajectories, params['credit'] ?? 'advantage');
  const [profile] = compare(trajectories, [['credit', credit]], []).estimators;
  const magnitudes = credit.map(Math.abs);
  const { turnOffsets } = trajectories;
  return {
    ...profile,
    turnCount: profile.turns,
    density: profile.signalDensity,
    meanGini: profile.gini,
    meanEffectiveTurnShare: profile.effectiveTurnShare,
    meanTopShare: profile.topShare,
    meanLastShare: profile.lastShare,
    perTrajectory: trajectories.ids.map((_, i) =>
      concentration(magnitudes.subarray(turnOffsets[i], turnOffsets[i + 1])),
    ),
  };
}

function estimatorAgreement(trajectories: TrajectoryBatch, params: Params) {
  // Named so that the alphabet keeps left left.
  const sides = ['left', 'right'].map((side) => [side, signal(trajectories, params[side])] as const);
  const [pair] = compare(trajectories, sides, [], Number(params['disputed'] ?? 5)).pairs;
  return {
    ...pair,
    turnCount: pair.n,
    disputedTurns: pair.disputed.map(({ trajectory, turn }) => [trajectory, turn]),
  };
}

function creditVsLabels(trajectories: TrajectoryBatch, params: Params) {
  const credit = signal(trajectories, params['credit'] ?? 'advantage');
  const [truth] = compare(trajectories, [['credit', credit]], [['label', signal(trajectories, 'humanLabel')]]).truths;
  return { ...truth, turnCount: truth.n };
}

function processOutcomeOfRun(trajectories: TrajectoryBatch, params: Params) {
  const { turnOffsets, groupOf, trainingStep } = trajectories;
  const aggregate = AGGREGATES.find((name) => name === params['aggregate']) ?? 'mean';
  const how = { empty: NaN, temperature: 0.1 };
  const success = numbers(trajectories, 'trajectory.success') ?? new Float64Array(groupOf.length).fill(NaN);
  const rows = {
    process: aggregateRows(signal(trajectories, 'processReward'), turnOffsets, aggregate, how),
    success,
    turns: rowLengths(turnOffsets),
    groupOf,
    trainingStep,
  };
  return processOutcome(rows, { threshold: Number(params['threshold'] ?? 0.5), bins: Number(params['bins'] ?? 10) });
}

function processBenchOfRun(trajectories: TrajectoryBatch, params: Params) {
  const humanFirstError = Array.from(numbers(trajectories, 'trajectory.humanFirstError') ?? []);
  const critiques = ofTrajectories(trajectories, 'critiques').map((texts) => (Array.isArray(texts) ? texts.map(String) : [])); // prettier-ignore
  return { ...processBench(humanFirstError, critiques, { voting: params['voting'] === true }) };
}

function agentProcessBenchOfRun(trajectories: TrajectoryBatch) {
  const dataset = ofTrajectories(trajectories, 'dataset').map((name) => (typeof name === 'string' ? name : null));
  const failed = ofTrajectories(trajectories, 'judgeFailed').map((flag) => flag === 1);
  const [reference, judged] = [signal(trajectories, 'humanLabel'), signal(trajectories, 'judgeLabel')];
  return { ...agentProcessBench(trajectories, reference, judged, dataset, failed) };
}

/** [trajectories] null: not said */
function ofTrajectories({ columns, ids }: TrajectoryBatch, name: string): readonly unknown[] {
  const column = columns.get(`trajectory.${name}`);
  return column ? jsonValues(column) : ids.map(() => null);
}

function entropyTrendOfRun({ trainingSteps }: GoldenInput, params: Params) {
  const points = trainingSteps.map(({ trainingStep, metrics }) => ({ trainingStep, entropy: metrics['entropy'] }));
  return {
    ...entropyTrend(points, { spentShare: 0.9, ...(params as Omit<Parameters<typeof entropyTrend>[1], 'spentShare'>) }),
  };
}

const scoresOf = (steps: GoldenInput['trainingSteps']) =>
  steps.map(({ trainingStep, metrics }) => ({ trainingStep, score: metrics['score'] }));
