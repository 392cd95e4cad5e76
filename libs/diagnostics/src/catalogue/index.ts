import type { AnyDiagnostic } from '../diagnostic.js';
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
  learningPlateauDiagnostic,
  gradientNoiseScaleDiagnostic,
  pathStraightnessDiagnostic,
  relexExtrapolationDiagnostic,
  policyStalenessDiagnostic,
  difficultyBandsDiagnostic,
  predictorCalibrationDiagnostic,
  labelAgreementDiagnostic,
];
