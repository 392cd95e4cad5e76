import type { AnyDiagnostic } from '../diagnostic.js';
import { anchorGroupsDiagnostic } from './anchor-groups.js';
import { conservativeFloorDiagnostic } from './conservative-floor.js';
import { cumulativeRegretDiagnostic } from './cumulative-regret.js';
import { failureCauseDiagnostic } from './failure-cause.js';
import { failureClustersDiagnostic } from './failure-clusters.js';
import { failureSimilarityDiagnostic } from './failure-similarity.js';
import { generalisationGapDiagnostic } from './generalisation-gap.js';
import { hierarchyProfileDiagnostic } from './hierarchy-profile.js';
import { judgeVotesDiagnostic } from './judge-votes.js';
import { lengthRewardDiagnostic } from './length-reward.js';
import { memoryLiftDiagnostic } from './memory-lift.js';
import { overthinkingDiagnostic } from './overthinking.js';
import { prefixSuccessDiagnostic } from './prefix-success.js';
import { processOutcomeDiagnostic } from './process-outcome.js';
import { restartCandidatesDiagnostic } from './restart-candidates.js';
import { rewardComponentsDiagnostic } from './reward-components.js';
import { rolloutBudgetDiagnostic } from './rollout-budget.js';
import { taskForgettingDiagnostic } from './task-forgetting.js';
import { tokenBudgetProfileDiagnostic } from './token-budget-profile.js';
import { toolEfficiencyDiagnostic } from './tool-efficiency.js';
import { entropyStepDiagnostic } from './entropy-step.js';
import { entropyMomentsDiagnostic } from './entropy-moments.js';
import { entropyCovarianceDiagnostic } from './entropy-covariance.js';
import { entropyRewardLawDiagnostic } from './entropy-reward-law.js';
import { surprisalQuadrantsDiagnostic } from './surprisal-quadrants.js';
import { lowProbabilityTokensDiagnostic } from './low-probability-tokens.js';
import { exploreExploitDiagnostic } from './explore-exploit.js';
import { datasetCoverageDiagnostic } from './dataset-coverage.js';
import { gradientNoiseScaleDiagnostic } from './gradient-noise-scale.js';
import { pathStraightnessDiagnostic } from './path-straightness.js';
import { relexExtrapolationDiagnostic } from './relex-extrapolation.js';
import { policyStalenessDiagnostic } from './policy-staleness.js';
import { predictorCalibrationDiagnostic } from './predictor-calibration.js';
import { labelAgreementDiagnostic } from './label-agreement.js';
import { entropyTrendDiagnostic } from './entropy-trend.js';
import { inGroupSpreadDiagnostic } from './in-group-spread.js';
import { learningPlateauDiagnostic } from './learning-plateau.js';
import { difficultyBandsDiagnostic } from './difficulty-bands.js';
import { loopStagnationDiagnostic } from './loop-stagnation.js';
import { passAtKDiagnostic } from './pass-at-k.js';
import { zeroVarianceGroups } from './zero-variance-groups.js';

/** The catalogue is a value: adding a diagnostic is its file and one line here. The order is that of a report. */
export const DIAGNOSTICS: readonly AnyDiagnostic[] = [
  zeroVarianceGroups,
  inGroupSpreadDiagnostic,
  anchorGroupsDiagnostic,
  entropyStepDiagnostic,
  entropyMomentsDiagnostic,
  entropyTrendDiagnostic,
  entropyCovarianceDiagnostic,
  entropyRewardLawDiagnostic,
  surprisalQuadrantsDiagnostic,
  lowProbabilityTokensDiagnostic,
  exploreExploitDiagnostic,
  passAtKDiagnostic,
  datasetCoverageDiagnostic,
  loopStagnationDiagnostic,
  failureCauseDiagnostic,
  failureSimilarityDiagnostic,
  failureClustersDiagnostic,
  toolEfficiencyDiagnostic,
  overthinkingDiagnostic,
  lengthRewardDiagnostic,
  rewardComponentsDiagnostic,
  processOutcomeDiagnostic,
  prefixSuccessDiagnostic,
  cumulativeRegretDiagnostic,
  learningPlateauDiagnostic,
  gradientNoiseScaleDiagnostic,
  pathStraightnessDiagnostic,
  relexExtrapolationDiagnostic,
  policyStalenessDiagnostic,
  difficultyBandsDiagnostic,
  rolloutBudgetDiagnostic,
  restartCandidatesDiagnostic,
  taskForgettingDiagnostic,
  conservativeFloorDiagnostic,
  generalisationGapDiagnostic,
  memoryLiftDiagnostic,
  predictorCalibrationDiagnostic,
  labelAgreementDiagnostic,
  judgeVotesDiagnostic,
  hierarchyProfileDiagnostic,
  tokenBudgetProfileDiagnostic,
];
