import { Access1767225600000 } from './1767225600000-access.js';
import { EventLog1767225601000 } from './1767225601000-event-log.js';
import { ReadModels1767225602000 } from './1767225602000-read-models.js';
import { Analysis1767225603000 } from './1767225603000-analysis.js';
import { LimitsAndReadiness1767225606000 } from './1767225606000-limits-and-readiness.js';
import { Erasure1767225608000 } from './1767225608000-erasure.js';
import { Diagnosis1767225613000 } from './1767225613000-diagnosis.js';
import { Audit1767225614000 } from './1767225614000-audit.js';
import { Webhooks1767225621000 } from './1767225621000-webhooks.js';
import { OwnEstimatorsAndStates1767225611000 } from './1767225611000-own-estimators-and-states.js';
import { Checkpoints1767225622000 } from './1767225622000-checkpoints.js';
import { DiagnosticSettings1767225623000 } from './1767225623000-diagnostic-settings.js';
import { NearestTurns1767225626000 } from './1767225626000-nearest-turns.js';
import { JudgedTrajectories1767225627000 } from './1767225627000-judged-trajectories.js';
import { WorkerDevices1767225630000 } from './1767225630000-worker-devices.js';
import { PackedFigures1767225631000 } from './1767225631000-packed-figures.js';
import { PartsOfReadings1767225632000 } from './1767225632000-parts-of-readings.js';

/** All of them, in order. Each is raw SQL and imports nothing of ours. */
export const MIGRATIONS = [
  Access1767225600000,
  EventLog1767225601000,
  ReadModels1767225602000,
  Analysis1767225603000,
  LimitsAndReadiness1767225606000,
  Erasure1767225608000,
  OwnEstimatorsAndStates1767225611000,
  Diagnosis1767225613000,
  Audit1767225614000,
  Webhooks1767225621000,
  Checkpoints1767225622000,
  DiagnosticSettings1767225623000,
  NearestTurns1767225626000,
  JudgedTrajectories1767225627000,
  WorkerDevices1767225630000,
  PackedFigures1767225631000,
  PartsOfReadings1767225632000,
] as const;
