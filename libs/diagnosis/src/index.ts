export { type AlertEdge } from './alerts.js';
export {
  auditRun,
  LOGGED_ADVANTAGE,
  startAudit,
  type AuditPorts,
  type AuditRequest,
  type AuditResult,
} from './audit-run.js';
export { auditTask, type AuditedStep, type AuditTask } from './audit-task.js';
export { diagnoseRun, measureSteps, readDiagnosis, type DiagnosePorts } from './diagnose-run.js';
export { positionToLookAt } from './load-step.js';
export { FigureMemory } from './figure-memory.js';
export { auditRunJob, diagnoseRunJob, findNearestTurnsJob, measureAsOfJob } from './jobs.js';
export type { RunDiagnosis } from './kept-diagnosis.js';
export { measureTask, type MeasuredFigures, type MeasureTask, type StepToMeasure } from './measure-step.js';
export { runsToDiagnose, type RunToDiagnose } from './runs-to-diagnose.js';
export { changeSettings, runSettings, type RunSettings, type SettingChanges } from './settings.js';
export { stepRevisions, type StepRevision } from './step-revisions.js';
export {
  nearestTask,
  seekTask,
  type JudgedTurn,
  type NearestInStep,
  type NearestTask,
  type SeekTask,
} from './nearest-task.js';
export {
  findNearest,
  NEAREST_WITHIN,
  startNearest,
  type NearestPorts,
  type NearestRequest,
  type NearestResult,
  type NearestWithin,
} from './nearest-turns.js';
