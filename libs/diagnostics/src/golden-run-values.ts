import { findEstimator, runEstimator, turnCredit } from '#lib/credit';
import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import { datasetCoverage, rarefiedSaco } from './catalogue/dataset-coverage.js';
import { entropyCovariance } from './catalogue/entropy-covariance.js';
import { entropyRewardLaw } from './catalogue/entropy-reward-law.js';
import { gradientNoiseScale } from './catalogue/gradient-noise-scale.js';
import { labelAgreement, labelCounts } from './catalogue/label-agreement.js';
import { lowProbabilityTokens } from './catalogue/low-probability-tokens.js';
import { pathPlace, pathStraightness } from './catalogue/path-straightness.js';
import { policyStaleness } from './catalogue/policy-staleness.js';
import { aucOfEstimates, calibrationOf, calibrationSums, estimatesOf, subgroupRegret } from './catalogue/predictor-calibration.js'; // prettier-ignore
import { relexExtrapolation } from './catalogue/relex-extrapolation.js';
import { surprisalQuadrants } from './catalogue/surprisal-quadrants.js';
import type { GoldenInput } from './golden-values.js';
import { batchWithout, jackknifeStability, leaveOneTrajectoryOut } from './jackknife-stability.js';
import { coverageOf } from './step-coverage.js';

type Params = Readonly<Record<string, unknown>>;

/** The token columns as the golden files name them. */
function tokensOf(trajectories: TrajectoryBatch) {
  const column = (name: string) => numbers(trajectories, `token.${name}`);
  const texts = trajectories.columns.get('token.text');
  return {
    credit: column('advantage')!,
    logprob: (column('updatedLogprob') ?? column('logprob'))!,
    mask: column('mask'),
    texts: texts?.kind === 'text' ? texts.values : null,
  };
}

export function entropyCovarianceOfRun({ trajectories }: GoldenInput, params: Params) {
  const found = entropyCovariance(tokensOf(trajectories), params as never);
  return { ...found, tokenCovariance: [...found.tokenCovariance] };
}

export function entropyRewardLawOfRun({ trainingSteps }: GoldenInput, { fitSteps }: Params) {
  const points = trainingSteps.map(({ metrics }) => ({ entropy: metrics['entropy'], score: metrics['score'] }));
  return { ...entropyRewardLaw(points, Number(fitSteps)) };
}

export function surprisalQuadrantsOfRun({ trajectories }: GoldenInput, params: Params) {
  return { ...surprisalQuadrants(tokensOf(trajectories), params as never) };
}

export function lowProbabilityTokensOfRun({ trajectories }: GoldenInput, params: Params) {
  return { ...lowProbabilityTokens(tokensOf(trajectories), params as never) };
}

export function policyStalenessOfRun({ trajectories }: GoldenInput, params: Params) {
  return { ...policyStaleness(trajectories, numbers(trajectories, 'token.advantage'), params as never) };
}

export function gradientNoiseScaleOfRun({ trainingSteps }: GoldenInput, params: Params) {
  const norms = trainingSteps.map(({ metrics }) => metrics);
  return { steps: gradientNoiseScale(norms as never, params as never) };
}

export function pathStraightnessOfRun({ checkpoints }: GoldenInput, { window }: Params) {
  const path = (checkpoints as readonly { readonly sketch: readonly number[] }[]).map(({ sketch }) => ({ sketch }));
  const places = path.map((at, i) => pathPlace(at, path.slice(Math.max(0, i - Number(window)), i), path[0]));
  return { ...pathStraightness(places, Number(window)) };
}

export function relexExtrapolationOfRun({ checkpoints }: GoldenInput, params: Params) {
  return { ...relexExtrapolation(checkpoints as never, params as never) };
}

export function datasetCoverageOfRun({ trajectories }: GoldenInput, params: Params) {
  const steps = coverageOf(trajectories)!;
  const found = datasetCoverage(steps, params as never);
  const reference = steps.filter(({ trainingStep }) => (params['referenceSteps'] as number[]).includes(trainingStep));
  const rarefied = found.steps.map((step, i) => ({ ...step, rarefiedSaco: rarefiedSaco(steps[i], reference) }));
  return { ...found, steps: rarefied };
}

export function predictorCalibrationOfRun({ trajectories }: GoldenInput, { bins }: Params) {
  const estimates = estimatesOf(trajectories)!;
  return {
    ...calibrationOf(calibrationSums(estimates, Number(bins))),
    auc: aucOfEstimates(estimates),
    subgroupRegret: subgroupRegret(trajectories, estimates),
  };
}

export function labelAgreementOfRun({ trajectories }: GoldenInput, { raterA, raterB }: Params) {
  const [a, b] = [raterA, raterB].map((rater) => numbers(trajectories, `turn.${String(rater)}`)!);
  return { ...labelAgreement(labelCounts(trajectories.turnOffsets, a, b)) };
}

export function jackknifeStabilityOfRun({ trajectories }: GoldenInput, params: Params) {
  const creditOf = jackknifed(params);
  const rounds = leaveOneTrajectoryOut(trajectories);
  const reduced = rounds.map((round) => creditOf(batchWithout(trajectories, round)));
  const zeroTolerance = Number(params['zeroTolerance']);
  const { credit, maxMove, standardError, signUnstable, ...values } = jackknifeStability(
    trajectories,
    creditOf(trajectories),
    rounds,
    reduced,
    { zeroTolerance },
  );
  const nested = (column: Float64Array) =>
    trajectories.ids.map((_, i) => {
      const row = [...column.subarray(trajectories.turnOffsets[i], trajectories.turnOffsets[i + 1])];
      return row.some(Number.isNaN) ? null : row;
    });
  const turnAdvantage = nested(credit);
  return {
    turnAdvantage,
    maxMove: nested(maxMove),
    jackknifeSe: nested(standardError),
    signUnstable: nested(signUnstable),
    ...values,
  };
}

/** GRPO with and without its division, and GiGPO's step part: what the file compares. */
function jackknifed({ estimator, epsilon, gamma }: Params): (trajectories: TrajectoryBatch) => Float64Array {
  if (estimator === 'anchor-mean') {
    return (trajectories) => {
      const column = creditOf('gigpo', { gamma }, trajectories).explain!['stepAdvantage'];
      return Float64Array.from(column.values as Float64Array);
    };
  }
  const options = { epsilon, normalizeByStd: estimator === 'grpo', singleton: 'zero' };
  return (trajectories) => turnCredit(trajectories, creditOf('grpo', options, trajectories));
}

function creditOf(id: string, params: Params, trajectories: TrajectoryBatch) {
  const outcome = runEstimator(findEstimator(id), trajectories, params);
  if (outcome.kind === 'missing') throw new RecreditError('internal.error', `${id} lacks signals of a golden case`);
  return outcome.credit;
}
