import type { AnyDiagnostic } from '../diagnostic.js';
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
  entropyTrendDiagnostic,
  passAtKDiagnostic,
  loopStagnationDiagnostic,
  learningPlateauDiagnostic,
  difficultyBandsDiagnostic,
];
